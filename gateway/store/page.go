package store

import "fmt"

// Drivers read in pages, and call visitors between them: a visitor that uses the store
// would wait for itself otherwise, and one that takes its time would hold up others.

const (
	firstPage = 16 // entries
	mostPage  = 256
	pageSize  = 1 << 20 // bytes of values, after which a page ends
)

// page is a part of a range; more says that another one follows, which begins with next.
type page struct {
	entries []Entry
	next    string
	more    bool
}

// inPages visits what read returns, from page to page.
func inPages(from string, read func(from string, most int) (page, error), visit func(Entry) bool) error {
	for most := firstPage; ; most = min(most*4, mostPage) {
		found, err := read(from, most)
		if err != nil {
			return err
		}
		for _, e := range found.entries {
			if !visit(e) {
				return nil
			}
		}
		if !found.more {
			return nil
		}
		from = found.next
	}
}

// logPage is a part of a log; more says that another one may follow.
type logPage struct {
	entries []Appended
	more    bool
}

// logInPages visits what read returns, from page to page.
func logInPages(after Position, read func(after Position, most int) (logPage, error), visit func(Appended) bool) error {
	for most := firstPage; ; most = min(most*4, mostPage) {
		found, err := read(after, most)
		if err != nil {
			return err
		}
		for _, e := range found.entries {
			if !visit(e) {
				return nil
			}
			after = e.Position
		}
		if !found.more {
			return nil
		}
	}
}

// within returns whether all entries after a position of a log are kept, which begins with
// one that is kept and ends with the last that was ever appended.
func within(after Position, creation string, kept, last uint64) error {
	if after == (Position{}) || after.Creation == creation && after.Sequence+1 >= kept && after.Sequence <= last {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrPosition, after)
}
