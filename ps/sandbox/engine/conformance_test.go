package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/test/conformance"
)

// languageCase is one recorded case of the language.
type languageCase struct {
	Group, Name, Source string
	Output              []*struct {
		Type  string
		Value json.RawMessage
	}
	Errors      []caseError
	Thrown      *caseError
	ParseErrors []struct {
		ID, Message  string
		Line, Column int
		Incomplete   bool
	}
}

type caseError struct {
	FullyQualifiedErrorID string `json:"fullyQualifiedErrorId"`
	Category              string
	Exception             string
	Inner                 *string
	Message               string
	Line, Column          int
}

func (c languageCase) key() string { return c.Group + "/" + c.Name }

func languageCases(t *testing.T) []languageCase {
	var file struct{ Cases []languageCase }
	require.NoError(t, conformance.Read("language", &file))
	return file.Cases
}

// outside reads the cases that are refused on purpose, as "group/name: reason".
func outside(t *testing.T) map[string]string {
	file, err := os.Open("testdata/outside.txt")
	require.NoError(t, err)
	defer file.Close()
	out := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, " :: ")
		require.True(t, ok && reason != "", "outside.txt: %s has no reason", line)
		out[key] = reason
	}
	return out
}

// ran is the result of a run.
type ran struct {
	records []*dotnet.ErrorRecord // $Error
	output  []any
	errors  []*dotnet.ErrorRecord
	err     error
}

func runSource(source string) (r ran) {
	s := NewEngine(Options{}).NewSession(Console{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r.err = s.Run(ctx, "", source, Streams{
		Output: func(v any) error { r.output = append(r.output, v); return nil },
		Error:  func(rec *dotnet.ErrorRecord) { r.errors = append(r.errors, rec) },
	})
	r.records = s.Errors()
	return r
}

// isRefused reports whether a run ended with a refusal, by the parser or because the engine does
// not support something.
func isRefused(err error) bool {
	var parse *ParseError
	var thrown *ThrownError
	return errors.As(err, &parse) && parse.Errors[0].Outside || errors.As(err, &thrown) && thrown.Refused
}

// differences compares a run with the recording. The result is empty if they match.
func (c languageCase) differences(r ran) []string {
	var diff []string
	add := func(format string, args ...any) { diff = append(diff, fmt.Sprintf(format, args...)) }
	var parse *ParseError
	if errors.As(r.err, &parse) {
		if len(c.ParseErrors) == 0 {
			add("refused: %v", r.err)
			return diff
		}
		first, want := parse.Errors[0], c.ParseErrors[0]
		if first.ID != want.ID || first.Pos.Line != want.Line || first.Pos.Column != want.Column ||
			first.Incomplete != want.Incomplete || first.Message != want.Message {
			add("parse error %s at %d:%d incomplete=%v %q, want %+v", first.ID, first.Pos.Line, first.Pos.Column,
				first.Incomplete, first.Message, want)
		}
		return diff
	}
	if len(c.ParseErrors) > 0 {
		add("parsed, want %s", c.ParseErrors[0].ID)
		return diff
	}
	if len(r.output) != len(c.Output) {
		add("%d outputs %v, want %d", len(r.output), describe(r.output), len(c.Output))
	}
	for i := 0; i < len(r.output) && i < len(c.Output); i++ {
		got, want := describeValue(r.output[i]), "null"
		if w := c.Output[i]; w != nil {
			var text string
			if json.Unmarshal(w.Value, &text) != nil {
				text = strings.Trim(string(w.Value), `"`)
				if text == "true" || text == "false" {
					text = strings.ToUpper(text[:1]) + text[1:]
				}
			}
			want = w.Type + " " + text
		}
		if got != want {
			add("output %d is %q, want %q", i, got, want)
		}
	}
	if len(r.errors) != len(c.Errors) {
		add("%d errors %v, want %d", len(r.errors), r.errors, len(c.Errors))
	}
	for i := 0; i < len(r.errors) && i < len(c.Errors); i++ {
		diff = append(diff, compareError(r.errors[i], c.Errors[i])...)
	}
	var thrown *ThrownError
	switch {
	case errors.As(r.err, &thrown) && c.Thrown != nil:
		diff = append(diff, compareError(thrown.Record, *c.Thrown)...)
	case r.err != nil:
		add("ended with %v", r.err)
	case c.Thrown != nil:
		add("did not end with %s", c.Thrown.FullyQualifiedErrorID)
	}
	return diff
}

func compareError(rec *dotnet.ErrorRecord, want caseError) []string {
	inner := "<nil>"
	if rec.Exception.Inner != nil {
		inner = rec.Exception.Inner.Type.Name
	}
	wantInner := "<nil>"
	if want.Inner != nil {
		wantInner = *want.Inner
	}
	line, column := 0, 0
	if rec.Position != nil {
		line, column = rec.Position.Line, rec.Position.Column
	}
	got := fmt.Sprintf("%s|%s|%s|%s|%s|%d:%d", rec.ErrorID, rec.Category.String(), rec.Exception.Type.Name,
		inner, rec.Exception.Message, line, column)
	expected := fmt.Sprintf("%s|%s|%s|%s|%s|%d:%d", want.FullyQualifiedErrorID, want.Category, want.Exception,
		wantInner, want.Message, want.Line, want.Column)
	if got != expected {
		return []string{fmt.Sprintf("error\n   is   %s\n   want %s", got, expected)}
	}
	return nil
}

func describeValue(v any) string {
	if isNull(v) {
		return "null"
	}
	return dotnet.TypeOf(v).Name + " " + dotnet.ToText(v)
}

func describe(values []any) []string {
	var out []string
	for _, v := range values {
		out = append(out, describeValue(v))
	}
	return out
}

// TestLanguage: every recorded case has the recorded result, except that the cases in outside.txt are
// refused.
func TestLanguage(t *testing.T) {
	beyond := outside(t)
	cases := languageCases(t)
	matched, refused := 0, 0
	for _, c := range cases {
		t.Run(c.key(), func(t *testing.T) {
			r := runSource(c.Source)
			if reason, ok := beyond[c.key()]; ok {
				require.True(t, isRefused(r.err), "outside (%s) but not refused: %v, errors %v, %v", reason,
					describe(r.output), r.errors, r.err)
				refused++
				return
			}
			diff := c.differences(r)
			require.Empty(t, diff, "%s\n%s", c.Source, strings.Join(diff, "\n"))
			matched++
		})
	}
	t.Logf("language cases: %d, matched %d, outside %d, of these refused %d", len(cases), matched, len(beyond),
		refused)
	require.GreaterOrEqual(t, matched, 112)
	require.Len(t, beyond, refused, "outside.txt names cases that do not exist")
}
