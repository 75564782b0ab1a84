package texts

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"adgateway/test/prose"
)

var placeholder = regexp.MustCompile(`\{[a-zA-Z]+\}`)

// TestTheTableIsComplete: each text has the same names in braces in each language.
func TestTheTableIsComplete(t *testing.T) {
	for key, row := range all {
		assert.Regexp(t, `^[a-z][A-Za-z]*(\.[A-Za-z0-9_-]+)*$`, key)
		names := make([][]string, len(Langs))
		for _, l := range Langs {
			assert.NotEmpty(t, strings.TrimSpace(row[l]), "%s in %s", key, l.Code())
			assert.Equal(t, strings.TrimSpace(row[l]), row[l], "%s in %s", key, l.Code())
			names[l] = placeholder.FindAllString(row[l], -1)
			slices.Sort(names[l])
			names[l] = slices.Compact(names[l])
			assert.Equal(t, names[English], names[l], "%s in %s", key, l.Code())
		}
	}
}

func TestOnlyWordsHaveColors(t *testing.T) {
	assert.Greater(t, len(colors), 30)
	for key, color := range colors {
		assert.True(t, strings.HasPrefix(key, "word."), key)
		assert.Contains(t, []string{"ok", "warn", "bad", "run"}, color, key)
	}
}

// english matches words that no German text contains. It finds texts that were not translated.
var english = regexp.MustCompile(`(?i)\b(the|and|of|is|are|you|your|not|this|with|cannot|for|from|been)\b`)

func TestGermanIsNotEnglish(t *testing.T) {
	for key, row := range all {
		assert.NotRegexp(t, english, placeholder.ReplaceAllString(row[German], ""), key)
	}
}

func TestTexts(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 5, 0, 0, time.UTC)
	for _, c := range []struct {
		text            Text
		english, german string
	}{
		{Of("time.days", "n", 12345), "12,345 days", "12.345 Tagen"},
		{Count("time.days", 1), "1 day", "1 Tag"},
		{Count("time.days", 0), "0 days", "0 Tagen"},
		{Raw("{n}"), "{n}", "{n}"},
		{Of("no.such"), "no.such", "no.such"},
		{At(at), "2 Mar 2026, 09:05 UTC", "2. März 2026, 09:05 UTC"},
		{Of("time.ago", "span", Count("time.hours", 3)), "3 hours ago", "vor 3 Stunden"},
		{List(Raw("a"), Of("word.no")), "a, no", "a, nein"},
		{Ago(at, at.Add(-90*time.Minute)), "in 1 hour", "in 1 Stunde"},
		{Ago(at, at.Add(30*time.Second)), "less than a minute ago", "vor weniger als einer Minute"},
	} {
		assert.Equal(t, []string{c.english, c.german}, []string{c.text.In(English), c.text.In(German)})
		assert.False(t, c.text.Empty())
	}
	assert.True(t, Text(nil).Empty())
	assert.Empty(t, Text(nil).In(German))
}

// Values are not expanded, so braces in a value remain unchanged.
func TestValuesAreNotRead(t *testing.T) {
	assert.Equal(
		t, "{percent} of 7 items, 3 %", Of("job.run.progress", "n", "{percent}", "of", 7, "percent", 3).In(English),
	)
}

func TestLanguages(t *testing.T) {
	for header, want := range map[string]Lang{
		"": English, "de": German, "de-AT,en;q=0.5": German, "en-GB,de;q=0.9": English, "fr, de;q=0.8, en;q=0.7": German,
		"fr": English, "DE": German, "de;q=0, en": English, ",,;": English,
	} {
		assert.Equal(t, want, Accepted(header), header)
	}
	_, known := Named("fr")
	assert.False(t, known)
}

// api matches words of the API that pages must not use: scopes, operations, endpoints and codes.
var api = regexp.MustCompile(`\b(scope|credential|endpoint|parameter|payload|sAMAccountName|GUID|readyz)s?\b|` +
	`\b(GET|POST|PUT|DELETE) /|\b[a-z]+:(read|write|delete|submit|undo)\b|\b(user|group|membership|job|change)\.[a-z]+\b`)

func TestNoTextHasAWordOfTheAPI(t *testing.T) {
	for key, row := range all {
		for _, l := range Langs {
			assert.NotRegexp(t, api, row[l], key)
		}
	}
}

func TestTextsArePlain(t *testing.T) {
	for key, row := range all {
		assert.Empty(t, prose.Text(row[English]), key)
	}
}
