package etag_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/etag"
)

func TestParse(t *testing.T) {
	a, b, weak := etag.Tag{Text: `"a"`}, etag.Tag{Text: `"b,c"`}, etag.Tag{Weak: true, Text: `"a"`}
	for _, c := range []struct {
		lines []string
		want  []etag.Tag
	}{
		{[]string{`"a"`}, []etag.Tag{a}},
		{[]string{` "a" , "b,c"`}, []etag.Tag{a, b}},
		{[]string{`"a"`, `"b,c"`}, []etag.Tag{a, b}},
		{[]string{`W/"a"`}, []etag.Tag{weak}},
		{[]string{`,, "a",, W/"a",`}, []etag.Tag{a, weak}},
		{[]string{`""`}, []etag.Tag{{Text: `""`}}},
		{[]string{"\"\xe4\""}, []etag.Tag{{Text: "\"\xe4\""}}},
	} {
		got, err := etag.Parse(c.lines)
		require.NoError(t, err, "%q", c.lines)
		assert.Equal(t, etag.Condition{Tags: c.want}, got, "%q", c.lines)
	}
	for _, line := range []string{"*", " * ", "\t*"} {
		got, err := etag.Parse([]string{line})
		require.NoError(t, err)
		assert.Equal(t, etag.Condition{Any: true}, got)
	}
	for _, line := range []string{
		"", " ", ",", "a", `"a`, `a"`, `"a" "b"`, `"a"b`, `w/"a"`, `W/ "a"`, `W/*`, `*, "a"`, `"a", *`, "* *", "\"a\x7f\"", `"a b"`, "\"\x00\"", `'a'`, `""a""`,
	} {
		_, err := etag.Parse([]string{line})
		assert.ErrorIs(t, err, etag.ErrMalformed, "%q", line)
	}
	_, err := etag.Parse([]string{`"a"`, ""})
	assert.NoError(t, err, "an empty line counts for nothing")
	_, err = etag.Parse([]string{strings.Repeat(`"a",`, etag.MaxTags)})
	assert.NoError(t, err)
	_, err = etag.Parse([]string{strings.Repeat(`"a",`, etag.MaxTags+1)})
	assert.ErrorIs(t, err, etag.ErrTooMany)
}

func TestCompare(t *testing.T) {
	tags := func(line string) etag.Condition {
		c, err := etag.Parse([]string{line})
		require.NoError(t, err)
		return c
	}
	for _, c := range []struct {
		condition   string
		tag         string
		match, same bool
	}{
		{`"a"`, `"a"`, true, true},
		{`W/"a"`, `"a"`, false, true},
		{`W/"a", "a"`, `"a"`, true, true},
		{`"A"`, `"a"`, false, false},
		{`"b", "a"`, `"a"`, true, true},
		{`*`, `"a"`, true, true},
		{`*`, "", false, false},
		{`""`, "", false, false},
	} {
		assert.Equal(t, c.match, tags(c.condition).Match(c.tag), "%s of %s", c.condition, c.tag)
		assert.Equal(t, c.same, tags(c.condition).Same(c.tag), "%s of %s", c.condition, c.tag)
	}
}

func TestHash(t *testing.T) {
	of := func(kind string, values ...string) string {
		h := etag.New(kind)
		for _, value := range values {
			h.Add([]byte(value))
		}
		return h.Tag()
	}
	assert.Regexp(t, `^"u1-[A-Za-z0-9_-]{22}"$`, of("u1", "a"))
	assert.Equal(t, of("u1", "a", "b"), of("u1", "a", "b"))
	seen := map[string]bool{}
	for _, tag := range []string{of("u1"), of("u1", ""), of("u1", "", ""), of("u1", "ab"), of("u1", "a", "b"),
		of("u1", "b", "a"), of("u2", "ab"), of("", "u1", "ab")} {
		assert.False(t, seen[tag], tag)
		seen[tag] = true
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{`"a"`, `W/"a", "b"`, "*", `"a" "b"`, ",", `"`, "W/", "\"\xff\""} {
		f.Add(line, "")
	}
	f.Add(`"a"`, `"b"`)
	f.Fuzz(func(t *testing.T, first, second string) {
		c, err := etag.Parse([]string{first, second})
		if err != nil {
			assert.Empty(t, c)
			return
		}
		assert.True(t, c.Any != (len(c.Tags) > 0))
		again, err := etag.Parse([]string{c.String()})
		require.NoError(t, err, "%q", c.String())
		assert.Equal(t, c, again)
		for _, tag := range c.Tags {
			assert.True(t, c.Same(tag.Text))
			assert.True(t, tag.Weak || c.Match(tag.Text))
		}
	})
}
