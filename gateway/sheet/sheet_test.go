package sheet_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/sheet"
)

func TestRows(t *testing.T) {
	for name, c := range map[string]struct {
		separator rune
		rows      [][]string
		want      string
	}{
		"no rows":           {',', nil, ""},
		"plain":             {',', [][]string{{"name", "city"}, {"Jürgen Größe", "Köln"}}, "name,city\r\nJürgen Größe,Köln\r\n"},
		"empty cells":       {',', [][]string{{"", "", ""}}, ",,\r\n"},
		"one empty cell":    {',', [][]string{{"a"}, {""}, {"b"}}, "a\r\n\"\"\r\nb\r\n"},
		"separators":        {';', [][]string{{"a;b", "a,b"}}, "\"a;b\";a,b\r\n"},
		"quotes":            {',', [][]string{{`say "x"`, " b"}}, "\"say \"\"x\"\"\",\" b\"\r\n"},
		"line breaks":       {',', [][]string{{"a\nb", "a\r\nb", "a\rb"}}, strings.Repeat(",\"a\r\nb\"", 3)[1:] + "\r\n"},
		"formulas":          {',', [][]string{{"=1+1", "+49 30 1", "-1", "@x", "\t=1", "\r=1"}}, "'=1+1,'+49 30 1,'-1,'@x,'\t=1,\"'\r\n=1\"\r\n"},
		"wide formulas":     {',', [][]string{{"＝1+1", "＋1", "－1", "＠x", "\n=1"}}, "'＝1+1,'＋1,'－1,'＠x,\"'\r\n=1\"\r\n"},
		"formulas in names": {',', [][]string{{"=a"}, {"x"}}, "'=a\r\nx\r\n"},
		"not formulas":      {',', [][]string{{"a=1", "1-1", "'=1", " =1", "é=1"}}, "a=1,1-1,'=1,\" =1\",é=1\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w := sheet.NewWriter(&out, c.separator)
			for _, row := range c.rows {
				require.NoError(t, w.WriteDefused(row))
			}
			require.NoError(t, w.Flush())
			assert.Equal(t, c.want, out.String())
		})
	}
}

// TestCellsAsTheyAre: Write leaves formulas unchanged.
func TestCellsAsTheyAre(t *testing.T) {
	var out bytes.Buffer
	w := sheet.NewWriter(&out, '\t')
	require.NoError(t, w.Write([]string{"+49 30 1", "=1"}))
	require.NoError(t, w.Flush())
	assert.Equal(t, "+49 30 1\t=1\r\n", out.String())
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestErrorsOfTheDestination(t *testing.T) {
	w := sheet.NewWriter(broken{}, ',')
	require.NoError(t, w.Write([]string{"a"}), "buffered")
	assert.ErrorIs(t, w.Write([]string{""}), io.ErrClosedPipe)
	assert.ErrorIs(t, w.Flush(), io.ErrClosedPipe)
	assert.ErrorIs(t, w.Write([]string{strings.Repeat("a", 1<<20)}), io.ErrClosedPipe)
}

// FuzzCells: whatever the cells contain, encoding/csv reads back the same rows, and no cell begins with a
// character that starts a formula.
func FuzzCells(f *testing.F) {
	f.Add("", "", "")
	f.Add("=1", "\r=1", "\r\n+1")
	f.Add(`a"b`, "ü,;\t", "\ufeff-1")
	f.Add("\\.", "x\ny", "@")
	f.Add("＝1", "\n-1", "＠")
	const starts = "=+-@＝＋－＠\t\r\n"
	f.Fuzz(func(t *testing.T, a, b, c string) {
		rows := [][]string{{a, b, c}, {c, a, b}}
		one := [][]string{{a}, {b}, {c}}
		for _, rows := range [][][]string{rows, one} {
			var out bytes.Buffer
			w := sheet.NewWriter(&out, ',')
			for _, row := range rows {
				require.NoError(t, w.WriteDefused(row))
			}
			require.NoError(t, w.Flush())
			reader := csv.NewReader(&out)
			for _, row := range rows {
				got, err := reader.Read()
				require.NoError(t, err)
				require.Len(t, got, len(row))
				for i, cell := range got {
					require.NotContains(t, starts, firstOf(cell))
					want := sheet.OneBreak(row[i])
					if cell != want {
						require.Equal(t, sheet.OneBreak("'"+row[i]), cell)
						require.Contains(t, starts, firstOf(row[i]))
					}
				}
			}
			_, err := reader.Read()
			require.True(t, errors.Is(err, io.EOF), "%v", err)
		}
	})
}

// firstOf returns the first character of a text, or a letter if it is empty.
func firstOf(text string) string { return string([]rune(text + "x")[:1]) }
