package syntax

import (
	"strings"
	"testing"
)

// FuzzPrint parses any text. If the parser accepts it, its printed form must result in the same tree.
func FuzzPrint(f *testing.F) {
	for _, c := range languageCases(f) {
		f.Add(c.Source)
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, errs := Parse("", text)
		if len(errs) > 0 {
			if script != nil {
				t.Fatal("a script beside errors")
			}
			for _, e := range errs {
				if e.Message == "" || e.Pos.Line < 1 || e.Pos.Column < 1 || e.Pos.Offset > len(wellFormed(text)) {
					t.Fatalf("a bad error: %#v", e)
				}
			}
			return
		}
		checkRoundTrip(t, script)
	})
}

func checkRoundTrip(t *testing.T, script *Script) {
	t.Helper()
	printed := Print(script)
	again, errs := Parse("", printed)
	if len(errs) > 0 {
		if errs[0].ID == IDTooDeep {
			return
		}
		t.Fatalf("the print of\n%q\nis refused: %v\n%s", script.Text, errs[0], printed)
	}
	want, got := dump(script), dump(again)
	if want != got {
		w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
		for i := range w {
			if i >= len(g) || w[i] != g[i] {
				t.Fatalf("the print of\n%q\nreads differently at %q\n%s\n--- want\n%s\n--- got\n%s", script.Text, w[i],
					printed, want, got)
			}
		}
		t.Fatalf("the print of\n%q\nreads differently\n%s", script.Text, printed)
	}
}
