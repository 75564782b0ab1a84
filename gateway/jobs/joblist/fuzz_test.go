package joblist_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"adgateway/gateway/jobs/joblist"

	"github.com/stretchr/testify/require"
)

func FuzzReadCSV(f *testing.F) {
	files, err := filepath.Glob("testdata/*.csv")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	for _, text := range []string{"sep=\t\nA\tB\r1\t2", "A;\"B\";C\n\"1\n\n\";2\n\n<clear>;;\n",
		"Id,After\na,b c\n\"\"\"\"\"", "A\n\"\r\n", "\"{\"\r0", ",\"[{\"\n,1"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text, joblist.CSV) })
}

func FuzzReadNDJSON(f *testing.F) {
	for _, text := range []string{"{}\n\n{\"id\":\"a\",\"after\":[\"b\"],\"parameters\":{\"x\":[1,null,{\"y\":true}]}}\r\n", "{\"id\":\"\\ud800\"}\n]{", "{\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text, joblist.NDJSON) })
}

func FuzzReadJSON(f *testing.F) {
	for _, text := range []string{`{"items":[{},` + "\n" + `{"id":"a","operation":"x","ifMatch":"\"1\""}]}`, `{"items":[` + "\n1]}", `{"item":{},"items":[]} x`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text, joblist.JSON) })
}

// check reads any text. It checks that reading the text as a whole and byte by byte gives the same result,
// that positions are inside the text, and that a list without problems is unchanged when its result is read
// again.
func check(t *testing.T, text []byte, format joblist.Format) {
	limits := joblist.Limits{MaxItems: 50, MaxBytes: 4 << 10, MaxLine: 1 << 10, MaxProblems: 20}
	list, err := joblist.Read(bytes.NewReader(text), format, limits)
	again, errAgain := joblist.Read(iotest.OneByteReader(bytes.NewReader(text)), format, limits)
	require.Equal(t, err, errAgain)
	require.Equal(t, list, again)
	if err != nil {
		return
	}
	lines := 1 + strings.Count(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") +
		strings.Count(string(text), "\r")
	last := 0
	for _, item := range list.Items {
		require.GreaterOrEqual(t, item.Line, last)
		last = item.Line
	}
	require.LessOrEqual(t, last, lines)
	require.LessOrEqual(t, len(list.Problems), min(list.TotalProblems, limits.MaxProblems))
	for _, p := range list.Problems {
		require.LessOrEqual(t, p.Line, lines)
		require.NotZero(t, p.Line)
		require.NotEmpty(t, p.Message)
	}
	units, problems, circles := joblist.Order(list.Items, func(i int) joblist.Touch {
		return joblist.Touch{Changes: []string{fmt.Sprint(i % 3)}, Uses: []string{fmt.Sprint(i % 5)}}
	})
	for _, p := range slices.Concat(problems, circles) {
		require.NotZero(t, p.Line)
	}
	if len(problems)+len(circles) == 0 {
		require.Len(t, units, len(list.Items))
		canRun(t, units)
	}
	if list.TotalProblems > 0 || format != joblist.CSV {
		return
	}
	var out bytes.Buffer
	result := joblist.NewResult(&out, list, joblist.ResultOptions{Format: joblist.CSV})
	for _, item := range list.Items {
		require.NoError(t, result.Write(item, joblist.Outcome{State: "x"}))
	}
	require.NoError(t, result.Flush())
	reread, err := joblist.Read(&out, joblist.CSV, joblist.Limits{})
	require.NoError(t, err)
	require.Equal(t, list.Separator, reread.Separator)
	require.Len(t, reread.Items, len(list.Items))
	for i, item := range list.Items {
		for name, cell := range item.Parameters {
			require.Equal(t, cell, reread.Items[i].Parameters[name], "%q", name)
		}
		require.Equal(t, item.ID, reread.Items[i].ID)
		require.Equal(t, item.After, reread.Items[i].After)
	}
}

// canRun fails the test unless every item can begin once those that it waits for have ended.
func canRun(t *testing.T, units []joblist.Unit) {
	ended := make([]bool, len(units))
	for left, before := len(units), len(units)+1; left > 0 && left < before; {
		before = left
		for i, unit := range units {
			if !ended[i] && !slices.ContainsFunc(unit.Before, func(k int) bool { return !ended[k] }) {
				ended[i] = true
				left--
			}
		}
	}
	require.NotContains(t, ended, false, "%v", units)
}

// TestOrderAtRandom: every After can be satisfied, no matter which objects the items touch.
func TestOrderAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		places := random.Perm(2 + random.IntN(7))
		list := make([]joblist.Item, len(places))
		for i, at := range places {
			list[i] = joblist.Item{Line: i + 1, ID: fmt.Sprint(at)}
			if at > 0 && random.IntN(3) > 0 {
				list[i].After = append(list[i].After, fmt.Sprint(random.IntN(at))) // so there is no cycle
			}
		}
		touched := make([]joblist.Touch, len(list))
		for i := range touched {
			touched[i] = joblist.Touch{Changes: []string{fmt.Sprint(random.IntN(3))},
				Uses: []string{fmt.Sprint(random.IntN(4))}}
		}
		units, problems, circles := joblist.Order(list, func(i int) joblist.Touch { return touched[i] })
		require.Empty(t, problems)
		require.Empty(t, circles)
		canRun(t, units)
		for _, unit := range units {
			require.Subset(t, unit.Before, unit.After)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for format, text := range map[joblist.Format]string{
		joblist.CSV:    "UserLogonName;GivenName;SurName;OUPath;Description\n" + strings.Repeat("mmueller;Max;Müller;\"OU=Süd,DC=corp,DC=example\";Vertrieb\n", 10_000),
		joblist.NDJSON: strings.Repeat(`{"operation":"createUser","parameters":{"UserLogonName":"mmueller","GivenName":"Max","SurName":"Müller","OUPath":"OU=Süd,DC=corp,DC=example"}}`+"\n", 10_000),
	} {
		b.Run(string(format), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				list, err := joblist.Read(strings.NewReader(text), format, joblist.Limits{})
				if err != nil || len(list.Items) != 10_000 {
					b.Fatal(err)
				}
			}
		})
	}
}
