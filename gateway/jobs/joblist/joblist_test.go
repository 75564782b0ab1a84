package joblist_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"adgateway/gateway/jobs/joblist"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files")

// read reads a text as a whole and byte by byte, with the same result.
func read(t *testing.T, text string, format joblist.Format, limits joblist.Limits) (*joblist.List, error) {
	t.Helper()
	list, err := joblist.Read(strings.NewReader(text), format, limits)
	again, errAgain := joblist.Read(iotest.OneByteReader(strings.NewReader(text)), format, limits)
	require.Equal(t, err, errAgain)
	require.Equal(t, list, again)
	return list, err
}

// TestFilesOfSpreadsheets: files as written by spreadsheets, each with the list that is read from
// it.
func TestFilesOfSpreadsheets(t *testing.T) {
	files, err := filepath.Glob("testdata/*.csv")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			list, err := read(t, string(text), joblist.CSV, joblist.Limits{})
			var shown []byte
			if err != nil {
				shown = []byte(err.Error())
			} else {
				shown, err = json.MarshalIndent(list, "", "  ")
				require.NoError(t, err)
			}
			golden := strings.TrimSuffix(file, ".csv") + ".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, append(shown, '\n'), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, strings.TrimSpace(string(want)), string(shown))
		})
	}
}

func TestCSV(t *testing.T) {
	type rows = []map[string]any
	for name, c := range map[string]struct {
		text      string
		separator rune
		lines     []int
		want      rows
	}{
		"comma":               {"A,B\n1,2\n", ',', []int{2}, rows{{"A": "1", "B": "2"}}},
		"semicolon":           {"A;B\r\n1,5;2\r\n", ';', []int{2}, rows{{"A": "1,5", "B": "2"}}},
		"as many of each":     {"A;B,C\n1;2,3\n", ';', []int{2}, rows{{"A": "1", "B,C": "2,3"}}},
		"tab":                 {"A\tB\n1;2\t3,4", '\t', []int{2}, rows{{"A": "1;2", "B": "3,4"}}},
		"one column":          {"A\n1\n", ',', []int{2}, rows{{"A": "1"}}},
		"CR alone":            {"A;B\r1;2\r\r3;4\r", ';', []int{2, 4}, rows{{"A": "1", "B": "2"}, {"A": "3", "B": "4"}}},
		"sep=":                {"sep=;\r\nA;B\r\n1;2", ';', []int{3}, rows{{"A": "1", "B": "2"}}},
		"sep= in quotes":      {"\"sep=,\"\nA;x,B\n1,2", ',', []int{3}, rows{{"A;x": "1", "B": "2"}}},
		"lines in a cell":     {"A,B\n\"1\r\n2\",3\n4,5", ',', []int{2, 4}, rows{{"A": "1\n2", "B": "3"}, {"A": "4", "B": "5"}}},
		"CR in a cell":        {"A,B\n\"1\r2\",3\n4,5\n", ',', []int{2, 3}, rows{{"A": "1\n2", "B": "3"}, {"A": "4", "B": "5"}}},
		"blank rows":          {"\n;;\nA;B\n\n;;\n 1;2\n\n;\n", ';', []int{6}, rows{{"A": " 1", "B": "2"}}},
		"trailing columns":    {"A,B,,\n1,2,,\n", ',', []int{2}, rows{{"A": "1", "B": "2"}}},
		"cells left out":      {"A,B,C\n1\n1,,3", ',', []int{2, 3}, rows{{"A": "1"}, {"A": "1", "C": "3"}}},
		"name in brackets":    {"[A],{B}\n1,2\n", ',', []int{2}, rows{{"[A]": "1", "{B}": "2"}}},
		"commas in one cell":  {"A;B;C\n1,2\n", ';', []int{2}, rows{{"A": "1,2"}}},
		"empty and clear":     {"A,B,C\n,<Clear>,\"\"\nx,,", ',', []int{2, 3}, rows{{"B": ""}, {"A": "x"}}},
		"no-break spaces":     {"\u00a0A ,B\n\u00a0 1 \u200b,2 2\u202f", ',', []int{2}, rows{{"A": " 1 ", "B": "2 2"}}},
		"apostrophe":          {"A,B\n'007,'x'", ',', []int{2}, rows{{"A": "'007", "B": "'x'"}}},
		"doubled quotes":      {"A,B\n\"a \"\"b\"\"\",\"c,d\"", ',', []int{2}, rows{{"A": `a "b"`, "B": "c,d"}}},
		"separator in quotes": {"\"A;a;a\",B\n1,2", ',', []int{2}, rows{{"A;a;a": "1", "B": "2"}}},
		"byte order mark":     {"\ufeffA,B\n1,2", ',', []int{2}, rows{{"A": "1", "B": "2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := read(t, c.text, joblist.CSV, joblist.Limits{})
			require.NoError(t, err)
			assert.Empty(t, list.Problems)
			assert.Equal(t, string(c.separator), string(list.Separator))
			var got rows
			var lines []int
			for _, item := range list.Items {
				got, lines = append(got, item.Parameters), append(lines, item.Line)
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.lines, lines)
			assert.Equal(t, strings.HasPrefix(c.text, "\ufeff"), list.BOM)
		})
	}
}

func TestColumnsThatAreNoParameters(t *testing.T) {
	list, err := read(t, "operation;ID;if-match;AFTER;Name\nuser.create ; a ;\"\"\"5\"\"\";b, c  d;x\n;;;;y",
		joblist.CSV, joblist.Limits{})
	require.NoError(t, err)
	assert.Empty(t, list.Problems)
	columns := map[string]int{"Name": 5}
	assert.Equal(t, []joblist.Item{
		{Line: 2, Operation: "user.create", ID: "a", IfMatch: `"5"`, After: []string{"b", "c", "d"}, Parameters: map[string]any{"Name": "x"}, Columns: columns},
		{Line: 3, Parameters: map[string]any{"Name": "y"}, Columns: columns},
	}, list.Items)
	assert.Equal(t, []string{"operation", "ID", "if-match", "AFTER", "Name"}, list.Header)
	assert.Equal(t, 1, list.HeaderLine)
	list, err = read(t, "sep=,\n\nName\nx", joblist.CSV, joblist.Limits{})
	require.NoError(t, err)
	assert.Equal(t, 3, list.HeaderLine)
}

// secret is in cells of the tests, and never appears in a message.
const secret = "S3cret"

func TestProblemsOfCSV(t *testing.T) {
	type problem = joblist.Problem
	for name, c := range map[string]struct {
		text  string
		want  []problem // Message is a part of it
		items int
		bad   bool
	}{
		"double name":         {"A,B, a\n1,2,S3cret", []problem{{Line: 1, Column: 3, Field: "a", Message: "Column 1 has the same name."}}, 1, true},
		"no name":             {"A,,C\n1,S3cret,2\n1,S3cret,2", []problem{{Line: 2, Column: 2, Message: "no name"}}, 2, true},
		"too many cells":      {"A,B\n1,2\n1,2,S3cret", []problem{{Line: 3, Column: 3, Message: "has 3 cells, but the first row names 2 columns"}}, 2, false},
		"typographic":         {"Id,B\nx,“S3cret, Joe”", []problem{{Line: 2, Column: 3, ID: "x", Message: "typographic quotation mark"}}, 1, false},
		"typographic name":    {"“A”,B\n1,2", []problem{{Line: 1, Column: 1, Field: "“A”", Message: "typographic"}}, 1, true},
		"other separator":     {"A;B;C\nS3cret,2,3\n1;2;3", []problem{{Line: 2, Message: "one cell, the first row has 3, separated by a semicolon"}}, 2, false},
		"quote in a cell":     {"A,B\n1,S3\"cret\n3,4", []problem{{Line: 2, Column: 2, Message: "not enclosed in quotes"}}, 2, false},
		"quote not doubled":   {"A,B\n1,\"S3\"cret\"\n3,4", []problem{{Line: 2, Column: 2, Message: "not doubled"}}, 2, false},
		"quote not closed":    {"A,B\n1,\"S3cret\n3,4\n", []problem{{Line: 2, Column: 2, Message: "not closed"}}, 1, false},
		"found later":         {"A,B\n1,\"S3cret\n3,\"4\n5,6", []problem{{Line: 2, Column: 2, Message: "found in line 3"}}, 2, false},
		"id with a blank":     {"A,Id\n1,Anna Meier", []problem{{Line: 2, Column: 2, Field: "id", Message: "no blanks"}}, 1, false},
		"long id":             {"A,Id\n1," + strings.Repeat("x", 101), []problem{{Line: 2, Column: 2, Field: "id", Message: "longer than 100"}}, 1, false},
		"many ids":            {"A,After\n1," + strings.Repeat("x ", 101), []problem{{Line: 2, Column: 2, Field: "after", Message: "at most 100"}}, 1, false},
		"long name":           {"A," + strings.Repeat("x", 101) + "\n1,2", []problem{{Line: 1, Column: 2, Message: "longer than 100"}}, 1, true},
		"line break in names": {"A,\"x\ny\"\n1,2", []problem{{Line: 1, Column: 2, Message: "line break"}}, 1, true},
		"long row":            {"A,B\n1," + strings.Repeat("x", 400), []problem{{Line: 2, Message: "longer than 300 bytes"}}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := read(t, c.text, joblist.CSV, joblist.Limits{MaxLine: 300})
			require.NoError(t, err)
			assertProblems(t, list, c.want)
			assert.Len(t, list.Items, c.items)
			assert.Equal(t, c.bad, list.Broken)
			invalid := 0
			for _, item := range list.Items {
				if item.Invalid {
					invalid++
				}
			}
			assert.Equal(t, !c.bad, invalid == 1)
		})
	}
}

func assertProblems(t *testing.T, list *joblist.List, want []joblist.Problem) {
	t.Helper()
	require.Len(t, list.Problems, len(want), "%+v", list.Problems)
	assert.Equal(t, len(want), list.TotalProblems)
	for i, p := range list.Problems {
		assert.Contains(t, p.Message, want[i].Message)
		assert.NotContains(t, p.Message, secret)
		p.Message = want[i].Message
		assert.Equal(t, want[i], p)
	}
}

func TestUnreadableListsAreRefused(t *testing.T) {
	csv, ndjson, whole := joblist.CSV, joblist.NDJSON, joblist.JSON
	for name, c := range map[string]struct {
		format joblist.Format
		text   string
		want   joblist.Unreadable // Message is a part of it
	}{
		"UTF-16 LE":           {csv, "\xff\xfeA\x00", joblist.Unreadable{1, 0, "UTF-16"}},
		"UTF-16 BE":           {ndjson, "\xfe\xff\x00A", joblist.Unreadable{1, 0, "CSV UTF-8"}},
		"UTF-16 unmarked":     {csv, "A\x00,\x00", joblist.Unreadable{1, 2, "zero byte"}},
		"workbook":            {csv, "PK\x03\x04...", joblist.Unreadable{1, 0, "workbook"}},
		"old workbook":        {csv, "\xd0\xcf\x11\xe0\xa1", joblist.Unreadable{1, 0, "workbook"}},
		"Windows-1252":        {csv, "A,B\r\nÄrger,M\xfcller\r\n", joblist.Unreadable{2, 8, "not UTF-8"}},
		"cut character":       {csv, "A\r1\r\xc3", joblist.Unreadable{3, 1, "not UTF-8"}},
		"empty":               {csv, "", joblist.Unreadable{1, 0, "empty"}},
		"blank":               {csv, "\n;;\n", joblist.Unreadable{1, 0, "empty"}},
		"only names":          {csv, "A,B\n", joblist.Unreadable{0, 0, "no items"}},
		"unknown sep=":        {csv, "sep=|\nA|B\n", joblist.Unreadable{1, 0, "comma, semicolon or tab"}},
		"too many columns":    {csv, "\n" + numbered(1001, "A%d", ",") + "\n1\n", joblist.Unreadable{2, 0, "1001 cells; a list has at most 1000"}},
		"misquoted names":     {csv, "\nA,\"B\n", joblist.Unreadable{2, 0, "cell 2"}},
		"JSON as CSV":         {csv, `{"items": []}`, joblist.Unreadable{1, 0, "application/json"}},
		"JSON over lines":     {csv, "{\n  \"items\": []}", joblist.Unreadable{1, 0, "application/json"}},
		"array as CSV":        {csv, "[ {\"id\": 1}]", joblist.Unreadable{1, 0, "application/json"}},
		"JSON as NDJSON":      {ndjson, "{\n \"items\": []}", joblist.Unreadable{1, 0, "application/json"}},
		"JSON as NDJSON 2":    {ndjson, `{"items": []}`, joblist.Unreadable{1, 0, "application/json"}},
		"array as NDJSON":     {ndjson, "\n[{}]", joblist.Unreadable{2, 0, "application/json"}},
		"no line":             {ndjson, "\n\n", joblist.Unreadable{0, 0, "no items"}},
		"array":               {whole, "\n[]", joblist.Unreadable{2, 0, "is an object"}},
		"no items":            {whole, "{}", joblist.Unreadable{1, 0, "items is missing"}},
		"none":                {whole, `{"items":[]}`, joblist.Unreadable{0, 0, "no items"}},
		"items null":          {whole, "{\n\"items\":null}", joblist.Unreadable{2, 0, "array"}},
		"comma missing":       {whole, "{\"items\":[\n{}\n{}]}", joblist.Unreadable{3, 0, "not valid JSON"}},
		"ends early":          {whole, "{\"items\":[\n{}\n", joblist.Unreadable{3, 0, "ends too early"}},
		"empty JSON":          {whole, "", joblist.Unreadable{1, 0, "ends too early"}},
		"two lists":           {whole, "{\"items\":[{}]}\n{\"items\":[{}]}", joblist.Unreadable{2, 0, "not valid JSON"}},
		"misspelled constant": {whole, "{\"items\":[\n{\"id\": S3cret}]}", joblist.Unreadable{2, 0, "not valid JSON"}},
		"format":              {"xml", "A", joblist.Unreadable{0, 0, `"xml" is no format`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, c.text, c.format, joblist.Limits{})
			var got *joblist.Unreadable
			require.ErrorAs(t, err, &got)
			assert.Contains(t, got.Message, c.want.Message)
			assert.NotContains(t, got.Message, secret)
			assert.Equal(t, [2]int{c.want.Line, c.want.Column}, [2]int{got.Line, got.Column}, got.Message)
		})
	}
}

func TestLimits(t *testing.T) {
	texts := map[joblist.Format]string{
		joblist.CSV:    "A\n1\n2\n3\n",
		joblist.NDJSON: "{}\n{}\n{}\n",
		joblist.JSON:   `{"items":[{},{},{}]}`,
	}
	for format, text := range texts {
		var large *joblist.TooLarge
		_, err := read(t, text, format, joblist.Limits{MaxItems: 2})
		require.ErrorAs(t, err, &large, "%s", format)
		assert.Equal(t, joblist.TooLarge{Limit: 2, Items: true}, *large)
		_, err = read(t, text, format, joblist.Limits{MaxItems: 3, MaxBytes: int64(len(text))})
		require.NoError(t, err)
		_, err = read(t, text, format, joblist.Limits{MaxBytes: int64(len(text)) - 1})
		require.ErrorAs(t, err, &large, "%s", format)
		assert.Equal(t, joblist.TooLarge{Limit: int64(len(text)) - 1}, *large)
	}
	list, err := read(t, "A\n"+strings.Repeat("1,2\n", 5), joblist.CSV, joblist.Limits{MaxProblems: 2})
	require.NoError(t, err)
	assert.Len(t, list.Problems, 2)
	assert.Equal(t, 5, list.TotalProblems)
}

// numbered joins a number of copies of a format, each with its number.
func numbered(n int, format, separator string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, separator)
}

// TestNamesAreFew: a list has room for the names of all parameters there are, and not for millions of names,
// which would all be compared and kept.
func TestNamesAreFew(t *testing.T) {
	most := numbered(1000, `"a%d":1`, ",")
	for format, form := range map[joblist.Format]string{
		joblist.NDJSON: "{\"parameters\":{%s}}\n{\"parameters\":{\"a1\":2%s}}\n",
		joblist.JSON:   "{\"items\":[{\"parameters\":{%s}},\n{\"parameters\":{\"a1\":2%s}}]}",
	} {
		list, err := read(t, fmt.Sprintf(form, most, ""), format, joblist.Limits{})
		require.NoError(t, err)
		counts := []int{len(list.Header), len(list.Items), list.TotalProblems}
		assert.Equal(t, []int{1000, 2, 0}, counts, "%s", format)
		list, err = read(t, fmt.Sprintf(form, most, `,"b":1`), format, joblist.Limits{})
		require.NoError(t, err)
		assert.Equal(t, []any{true, true, 1000, 1},
			[]any{list.Broken, list.Cut, len(list.Header), list.TotalProblems}, "%s", format)
		assert.Equal(t, 2, list.Problems[0].Line)
		assert.Contains(t, list.Problems[0].Message, "more than 1000 different parameters")
	}
	text := "{" + numbered(5, `"m%d":1`, ",") + `,"items":[{}]}`
	list, err := read(t, text, joblist.JSON, joblist.Limits{MaxProblems: 3})
	require.NoError(t, err)
	assert.Equal(t, []any{true, true, 3}, []any{list.Broken, list.Cut, list.TotalProblems})
}

func TestErrorsOfTheReader(t *testing.T) {
	broken := errors.New("the connection broke")
	for format, text := range map[joblist.Format]string{joblist.CSV: "A\n1", joblist.NDJSON: "{}\n",
		joblist.JSON: `{"items":[`, "": ""} {
		if format == "" {
			format = joblist.CSV
		}
		_, err := joblist.Read(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), format,
			joblist.Limits{})
		assert.ErrorIs(t, err, broken, "%s", format)
	}
}

// TestTheCallNamesTheColumns: the names of the parameters are given together with the list, so its first row
// may contain other names or none. A column that is not a parameter is kept.
func TestTheCallNamesTheColumns(t *testing.T) {
	for name, c := range map[string]struct {
		columns joblist.Columns
		text    string
		header  []string
		lines   []int
		want    []map[string]any
		kept    []map[int]string
	}{
		"names": {
			joblist.Columns{Names: []string{"Username", "", "City"}}, "Wer;Bemerkung;Ort\nlweber;\"x\ny\";Ulm\n;;Rom\n",
			[]string{"Wer", "Bemerkung", "Ort"}, []int{2, 4},
			[]map[string]any{{"Username": "lweber", "City": "Ulm"}, {"City": "Rom"}}, []map[int]string{{1: "x\ny"}, nil},
		},
		"data": {
			joblist.Columns{Names: []string{"Username", "", "City"}, Data: true},
			"sep=;\nlweber;x;<clear>\naschmidt;;Rom\n",
			[]string{"Username", "Column 2", "City"}, []int{2, 3},
			[]map[string]any{{"Username": "lweber", "City": ""}, {"Username": "aschmidt", "City": "Rom"}},
			[]map[int]string{{1: "x"}, nil},
		},
		"fewer names in the row": {
			joblist.Columns{Names: []string{"A", "B", ""}}, "x\n1,2,3\n", []string{"x", "B", "Column 3"}, []int{2},
			[]map[string]any{{"A": "1", "B": "2"}}, []map[int]string{{2: "3"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := joblist.ReadColumns(strings.NewReader(c.text), c.columns, joblist.Limits{})
			require.NoError(t, err)
			assert.Empty(t, list.Problems)
			assert.Equal(t, c.header, list.Header)
			assert.Equal(t, c.columns.Names, list.Names())
			require.Len(t, list.Items, len(c.lines))
			for i, item := range list.Items {
				assert.Equal(t, c.lines[i], item.Line)
				assert.Equal(t, c.want[i], item.Parameters)
				assert.Equal(t, c.kept[i], item.Kept)
			}
		})
	}

	names := joblist.Columns{Names: []string{"Id", "City"}, Data: true}
	_, err := joblist.ReadColumns(strings.NewReader("a,b,"+secret+"\n"), names, joblist.Limits{})
	require.ErrorContains(t, err, "line 1: the first row has 3 cells, but Columns names 2 columns")
	assert.NotContains(t, err.Error(), secret)
	list, err := joblist.ReadColumns(strings.NewReader("a b,Ulm\nc,d,e\n"), names, joblist.Limits{})
	require.NoError(t, err)
	require.Len(t, list.Problems, 2)
	for i, at := range [][2]int{{1, 1}, {2, 3}} {
		assert.Equal(t, at, [2]int{list.Problems[i].Line, list.Problems[i].Column})
	}
}

// TestResultHasTheColumnsOfTheList: the result has the names and cells of the list, including columns that
// are not parameters, but no secrets.
func TestResultHasTheColumnsOfTheList(t *testing.T) {
	const text = "Wer;Kennwort;Bemerkung;Password\nlweber;" + secret + ";x;" + secret + "\n"
	columns := joblist.Columns{Names: []string{"Username", "NewPassword", "", ""}}
	list, err := joblist.ReadColumns(strings.NewReader(text), columns, joblist.Limits{})
	require.NoError(t, err)
	for format, want := range map[joblist.Format]string{
		joblist.CSV: "Wer;Bemerkung;State;Code;Message;ChangeId;Guid\r\nlweber;x;done;;;;\r\n",
		joblist.NDJSON: `{"line":2,"parameters":{"Username":"lweber"},"kept":{"Bemerkung":"x"},"state":"done"}` +
			"\n",
	} {
		var out strings.Builder
		result := joblist.NewResult(&out, list, joblist.ResultOptions{
			Format: format, Secret: func(name string) bool { return strings.Contains(name, "Password") },
		})
		require.NoError(t, result.Write(list.Items[0], joblist.Outcome{State: "done"}))
		require.NoError(t, result.Flush())
		assert.Equal(t, want, out.String())
	}
}
