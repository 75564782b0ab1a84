package joblist_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"adgateway/gateway/jobs/joblist"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNDJSONAndJSON(t *testing.T) {
	lines := []string{
		`{"id":"a","operation":"createUser","parameters":{"UserLogonName":"x","Count":1.50,"On":true,"Off":null,"List":["b",2],"Text":""},"ifMatch":"\"5\"","after":[]}`,
		`{"parameters":{"Name":"\u00fc\ud83d\ude00"},"after":["a","b"]}`,
		`{}`,
	}
	want := []joblist.Item{
		{ID: "a", Operation: "createUser", IfMatch: `"5"`, Parameters: map[string]any{
			"UserLogonName": "x", "Count": json.Number("1.50"), "On": true, "Off": nil, "List": []any{"b", json.Number("2")}, "Text": ""}},
		{Parameters: map[string]any{"Name": "ü😀"}, After: []string{"a", "b"}},
		{Parameters: map[string]any{}},
	}
	for name, c := range map[string]struct {
		text   string
		format joblist.Format
		lines  []int
	}{
		"NDJSON":              {strings.Join(lines, "\n"), joblist.NDJSON, []int{1, 2, 3}},
		"NDJSON with blanks":  {"\ufeff\r\n" + strings.Join(lines, "\r\n\r\n ") + "\r\n\r\n", joblist.NDJSON, []int{2, 4, 6}},
		"JSON":                {`{"items":[` + strings.Join(lines, ",") + "]}", joblist.JSON, []int{1, 1, 1}},
		"JSON over the lines": {"\ufeff{\n\"items\": [\n" + strings.Join(lines, "\n,\n\n") + "\n]}\n", joblist.JSON, []int{3, 6, 9}},
	} {
		list, err := read(t, c.text, c.format, joblist.Limits{})
		require.NoError(t, err, name)
		assert.Empty(t, list.Problems, name)
		assert.Equal(t, []string{"UserLogonName", "Count", "On", "Off", "List", "Text", "Name"}, list.Header, name)
		for i, item := range list.Items {
			assert.Equal(t, c.lines[i], item.Line, name)
			item.Line = 0
			assert.Equal(t, want[i], item, name)
		}
	}
}

// TestLinesOfItemsInJSON: an item that spans several lines begins on the first of them.
func TestLinesOfItemsInJSON(t *testing.T) {
	list, err := read(t, "{\n  \"items\": [\n    {\n      \"id\": \"a\"\n    },\n\n    {\n      \"id\": 7\n"+
		"    }\n  ]\n}\n", joblist.JSON, joblist.Limits{})
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
	assert.Equal(t, []int{3, 7}, []int{list.Items[0].Line, list.Items[1].Line})
	assertProblems(t, list, []joblist.Problem{{Line: 7, Field: "id", Message: "in double quotes"}})
}

func TestProblemsOfJSON(t *testing.T) {
	deep := `{"parameters":{"a":` + strings.Repeat("[", 14) + strings.Repeat("]", 14) + "}}"
	type problem = joblist.Problem
	for name, c := range map[string]struct {
		line string
		want []problem // Message is a part of it
	}{
		"unknown member":      {`{"id":"a","parametres":{"Pw":"S3cret"}}`, []problem{{ID: "a", Field: "parametres", Message: `Did you mean "parameters"?`}}},
		"unlike any":          {`{"S3cret":1}`, []problem{{Field: "S3cret", Message: "no such member."}}},
		"another case":        {`{"ID":"a"}`, []problem{{Field: "ID", Message: `Did you mean "id"?`}}},
		"member twice":        {`{"id":"a","id":"b"}`, []problem{{ID: "b", Field: "id", Message: "twice"}}},
		"parameter twice":     {`{"parameters":{"Pw":"S3cret","\u0050w":"S3cret"}}`, []problem{{Field: "parameters.Pw", Message: "twice"}}},
		"deeper twice":        {`{"parameters":{"a":[{"b":1,"b":2}]}}`, []problem{{Field: "parameters.a.b", Message: "twice"}}},
		"number as id":        {`{"id":7}`, []problem{{Field: "id", Message: "in double quotes"}}},
		"text as parameters":  {`{"parameters":"S3cret"}`, []problem{{Field: "parameters", Message: "an object with the parameters"}}},
		"text as after":       {`{"after":"a"}`, []problem{{Field: "after", Message: "array of ids"}}},
		"number in after":     {`{"after":[1,2]}`, []problem{{Field: "after", Message: "array of ids"}}},
		"blank in after":      {`{"after":["a b"]}`, []problem{{Field: "after", Message: "without blanks"}}},
		"half of a character": {`{"parameters":{"Pw":"S3cret\ud800"}}`, []problem{{Message: "come in pairs"}}},
		"too deep":            {strings.Replace(deep, "[]", "[[]]", 1), []problem{{Message: "deeper than 16"}}},
		"no object":           {`["S3cret"]`, []problem{{Message: "An item is an object"}}},
		"too long":            {`{"id":"` + strings.Repeat("x", 300) + `"}`, []problem{{Message: "longer than 300 bytes"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.want {
				c.want[i].Line = 2
			}
			list, err := read(t, "{}\n"+c.line+"\n{}", joblist.NDJSON, joblist.Limits{MaxLine: 300})
			require.NoError(t, err)
			assertProblems(t, list, c.want)
			assert.Equal(t, []bool{false, true, false}, invalid(list))
			list, err = read(t, "{\"items\":[{},\n"+c.line+",{}]}", joblist.JSON, joblist.Limits{MaxLine: 300})
			require.NoError(t, err)
			assertProblems(t, list, c.want)
			assert.Equal(t, []bool{false, true, false}, invalid(list))
		})
	}
	list, err := read(t, deep, joblist.NDJSON, joblist.Limits{})
	require.NoError(t, err)
	assert.Empty(t, list.Problems, "nested as deeply as is allowed")
}

func invalid(list *joblist.List) (each []bool) {
	for _, item := range list.Items {
		each = append(each, item.Invalid)
	}
	return each
}

func TestLinesThatAreNoJSON(t *testing.T) {
	for text, column := range map[string]int{
		`{"id": S3cret}`:                8,
		`{"id":"ä" "b"}`:                11,
		`{"id":"a"`:                     10,
		`{"id":"a"} {}`:                 0,
		`{"parameters":{"a":"S3cret}`:   20,
		`S3cret`:                        1,
		strings.Repeat("x", 100) + "\r": 1,
	} {
		list, err := read(t, "{}\n"+text+"\n{}", joblist.NDJSON, joblist.Limits{})
		require.NoError(t, err)
		require.Len(t, list.Problems, 1, text)
		assert.Equal(t, []bool{false, true, false}, invalid(list), text)
		assert.Equal(t, 2, list.Problems[0].Line, text)
		assert.Equal(t, column, list.Problems[0].Column, "%s: %s", text, list.Problems[0].Message)
		assert.NotContains(t, list.Problems[0].Message, secret)
	}
}

func TestMembersBesideItems(t *testing.T) {
	list, err := read(t, "{\"operation\":\"createUser\",\n\"items\":[{}],\n\"item\":[{}],\n\"items\":[{}]}",
		joblist.JSON, joblist.Limits{})
	require.NoError(t, err)
	assertProblems(t, list, []joblist.Problem{
		{Line: 1, Field: "operation", Message: "only the member items"},
		{Line: 3, Field: "item", Message: `Did you mean "items"?`},
		{Line: 4, Field: "items", Message: "twice"},
	})
	assert.True(t, list.Broken)
	assert.Len(t, list.Items, 1)
}

// TestLongLineIsNotHeld: a line over the limit is never in memory as a whole.
func TestLongLineIsNotHeld(t *testing.T) {
	text := `{"id":"` + strings.Repeat("x", 16<<20) + `"}`
	var list *joblist.List
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			var err error
			if list, err = joblist.Read(strings.NewReader(text), joblist.NDJSON,
				joblist.Limits{MaxLine: 1 << 10}); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	assert.Equal(t, 1, list.TotalProblems)
	assert.Less(t, allocated, int64(1<<20), fmt.Sprint(allocated))
}
