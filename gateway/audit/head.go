package audit

import (
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Head is the end of a chain: the number and hash of its last line.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// headRecord is the stored form of a head, in the head record and in the anchor. With a key nobody else can
// forge a record, but an older record can be put back.
type headRecord struct {
	Head
	Anchored bool   `json:"anchored"` // there is an anchor, too
	MAC      string `json:"mac"`      // of the rest; spaces if there is no key
}

// errDamaged means that a record cannot be parsed.
var errDamaged = errors.New("damaged")

// mac returns the record's authentication code, or "" if there is no key.
func (r headRecord) mac(key []byte) string {
	if len(key) == 0 {
		return ""
	}
	return digest(key, fmt.Appendf(nil, "end of an audit log\n%d\n%s\n%t\n", r.Seq, r.Hash, r.Anchored))
}

// authentic reports whether the record was written with the key. If key is empty, it returns true.
func (r headRecord) authentic(key []byte) bool {
	return len(key) == 0 || hmac.Equal([]byte(r.MAC), []byte(r.mac(key)))
}

// text returns the encoded record. All records have the same length, so replacing one needs no space on a
// full disk, and they are too short for a torn write.
func (r headRecord) text(key []byte) string {
	return fmt.Sprintf(`{"seq":%-20d,"hash":"%s","anchored":%-5t,"mac":"%-64s"}`+"\n", r.Seq, r.Hash, r.Anchored, r.mac(key))
}

// write overwrites a record and syncs it.
func (r headRecord) write(path string, key []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteString(r.text(key)); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readRecord reads a record without authenticating it.
func readRecord(path string) (headRecord, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return headRecord{}, err
	}
	var r headRecord
	if err := json.Unmarshal(text, &r); err != nil || len(r.Hash) != hashLength {
		return headRecord{}, fmt.Errorf("%s: %w", path, errDamaged)
	}
	r.MAC = strings.TrimRight(r.MAC, " ")
	return r, nil
}

// headName returns the name of a log's head record.
func headName(path string) string { return path + ".head" }

// writeHead overwrites the head record. Its file stays open for the next lines. If it was removed or
// replaced, the file with its name is opened or created, or the line fails.
func (c *chain) writeHead(seq uint64, hash string) (err error) {
	if c.head != nil && !c.named() {
		c.head.Close()
		c.head = nil
	}
	if c.head == nil {
		if c.head, err = os.OpenFile(headName(c.o.File), os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			c.head = nil
			return err
		}
	}
	record := headRecord{Head: Head{seq, hash}, Anchored: c.o.Anchor != ""}
	_, err = c.head.WriteAt([]byte(record.text(c.o.Key)), 0)
	return err
}

// named reports whether the open head record is the file with its name.
func (c *chain) named() bool {
	opened, err := c.head.Stat()
	if err != nil {
		return false
	}
	found, err := os.Stat(headName(c.o.File))
	return err == nil && os.SameFile(opened, found)
}

// writeAnchor records the end of the chain in the anchor.
func (c *chain) writeAnchor() error {
	if c.o.Anchor == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.o.Anchor), 0o700); err != nil {
		return err
	}
	return headRecord{Head: Head{c.seq, c.last}, Anchored: true}.write(c.o.Anchor, c.o.Key)
}

// checkEnd compares the end of the files with the head record and with the anchor, and notes
// irregularities that an earlier session cannot have caused. keyed is true if the last line was written
// with the key.
func (c *chain) checkEnd(keyed bool) {
	found := c.seq
	head, err := readRecord(headName(c.o.File))
	switch {
	case errors.Is(err, fs.ErrNotExist) && found == 0:
	case err != nil:
		c.note(EventAltered, "the head record is missing or damaged")
	case !head.authentic(c.o.Key):
		if keyed || found == 0 || head.MAC != "" { // otherwise the key was just added to the chain
			c.note(EventAltered, "the head record was not written with the key")
		}
	case head.Seq > c.seq:
		c.note(EventAltered, fmt.Sprintf("the head record says %d lines, the file ends at line %d", head.Seq,
			found))
		c.seq, c.last = head.Seq, head.Hash
	}
	if c.o.Anchor == "" {
		return
	}
	anchor, missing := readRecord(c.o.Anchor)
	switch {
	case errors.Is(missing, fs.ErrNotExist) && !(err == nil && head.Anchored):
	case missing != nil:
		c.note(EventAltered, "the anchor is missing or damaged")
	case !anchor.authentic(c.o.Key):
		c.note(EventAltered, "the anchor was not written with the key")
	case anchor.Seq > found:
		c.note(EventAltered, fmt.Sprintf("the anchor says %d lines, the file ends at line %d", anchor.Seq, found))
		if anchor.Seq > c.seq {
			c.seq, c.last = anchor.Seq, anchor.Hash
		}
	case anchor.Seq == c.seq && anchor.Hash != c.last:
		c.note(EventAltered, fmt.Sprintf("line %d is not the one with the anchor's hash", anchor.Seq))
	}
}
