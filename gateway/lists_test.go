package gateway_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/ps"
	"adgateway/test/harness"
)

const (
	mediaCSV    = "text/csv; charset=utf-8; header=present"
	mediaNDJSON = "application/x-ndjson; charset=utf-8"
)

// TestFormsOfAList: Accept determines the body and the headers of a list.
func TestFormsOfAList(t *testing.T) {
	const ou = "/api/OU/All"
	record := func(name, description string) string {
		return `{"guid":"9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10","name":` + string(harness.JSON(name)) +
			`,"path":"OU=x","protected":true,"description":` + string(harness.JSON(description)) +
			`,"created":"2026-02-03T04:05:06Z","modified":"","container":false}`
	}
	const head = "guid,name,path,protected,description,created,modified,container\r\n"
	const id = "9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"
	for name, c := range map[string]struct {
		accept  string
		result  ps.Result
		batches []string
		media   string
		body    string
		want    map[string]string
	}{
		"CSV": {"text/csv", harness.OK, []string{"[" + record("Köln", "a, \"b\"") + "," + record("x", "") + "]", "[" + record("y", "two\nlines") + "]"}, mediaCSV,
			head + id + ",Köln,OU=x,true,\"a, \"\"b\"\"\",2026-02-03T04:05:06Z,,false\r\n" +
				id + ",x,OU=x,true,,2026-02-03T04:05:06Z,,false\r\n" +
				id + ",y,OU=x,true,\"two\r\nlines\",2026-02-03T04:05:06Z,,false\r\n",
			map[string]string{"Link": "", "X-Total-Count": "", "X-Warnings": "", "X-Directory-Server": "dc1.corp.example"}},
		"formulas": {"text/csv", harness.OK, []string{"[" + record("=1+1", "@x") + "]"}, mediaCSV,
			head + id + ",'=1+1,OU=x,true,'@x,2026-02-03T04:05:06Z,,false\r\n", nil},
		"NDJSON": {"application/x-ndjson", harness.OK, []string{"[" + record("Köln", "") + "]", "[" + record("=x", "two\nlines") + "]"}, mediaNDJSON,
			strings.Replace(strings.Replace(record("Köln", ""), `""`, "null", 2), `""`, "null", 1) + "\n" +
				strings.Replace(record("=x", "two\nlines"), `""`, "null", 1) + "\n", nil},
		"no records, CSV":    {"text/csv", harness.OK, nil, mediaCSV, head, nil},
		"no records, NDJSON": {"application/x-ndjson", harness.OK, []string{"[]"}, mediaNDJSON, "", map[string]string{"Content-Length": "0"}},
		"no records, JSON": {"application/json", harness.OK, nil, "application/json; charset=utf-8",
			`{"output":"0 records found","result":[]}` + "\n", nil},
		"warnings": {"text/csv", ps.Result{Warnings: []ps.Warning{{Code: "a", Target: "Müller 😀", Message: "m"}, {Code: "b"}}}, nil, mediaCSV, head,
			map[string]string{"X-Warning-Count": "2",
				"X-Warnings": `[{"code":"a","target":"M\u00fcller \ud83d\ude00","message":"m"},{"code":"b","target":"","message":""}]`}},
		"a long warning": {"text/csv", ps.Result{Warnings: []ps.Warning{{Code: "a", Message: strings.Repeat("m", 5000)}}}, nil, mediaCSV, head,
			map[string]string{"X-Warning-Count": "1", "X-Warnings": "[]"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.New(t, harness.Answering(c.result, c.batches...), nil)
			w := harness.Call(s, http.MethodGet, ou, "", "Accept: "+c.accept)
			require.Equal(t, http.StatusOK, w.Code)
			assert.Equal(t, []string{c.media}, w.Header()["Content-Type"])
			assert.Equal(t, "Accept", w.Header().Get("Vary"))
			assert.Equal(t, fmt.Sprint(len(c.body)), w.Header().Get("Content-Length"))
			assert.Equal(t, c.body, w.Body.String())
			for header, want := range c.want {
				assert.Equal(t, want, w.Header().Get(header), header)
			}
		})
	}
}

// TestListsInCells: a list in a record becomes JSON in a single cell.
func TestListsInCells(t *testing.T) {
	const record = `{"zoneName":"a.example","masterServers":["192.0.2.1","192.0.2.2"],"forwarderTimeout":5,` +
		`"useRecursion":false,"replicationScope":"Forest","directoryPartition":""}`
	s := harness.New(t, harness.Answering(harness.OK, "["+record+"]"), nil)
	w := harness.Call(s, http.MethodGet, "/api/DnsConditionalForwarder/All", "", "Accept: text/csv")
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	const head = "zoneName,masterServers,forwarderTimeout,useRecursion,replicationScope,directoryPartition"
	assert.Equal(t, head+"\r\n"+
		"a.example,\"[\"\"192.0.2.1\"\",\"\"192.0.2.2\"\"]\",5,false,Forest,\r\n", w.Body.String())
}

// TestFormsThatAreNotThere: a call for a form that does not exist runs no script.
func TestFormsThatAreNotThere(t *testing.T) {
	runner := harness.Answering(harness.OK)
	s := harness.New(t, runner, nil)
	w := harness.Call(s, http.MethodGet, "/api/OU/All", "", "Accept: application/xml")
	require.Equal(t, http.StatusNotAcceptable, w.Code)
	got := harness.Read(t, w)
	assert.Equal(t, "Accept is 'application/xml', and a list has none of these forms. Name one of these in "+
		"Accept, or leave Accept out: application/json, text/csv, application/x-ndjson.", got.Output)
	assert.Equal(t, "Accept", w.Header().Get("Vary"))
	assert.Zero(t, runner.Count())
	for _, accepted := range []string{"text/csv; header=absent", "text/csv;charset=iso-8859-1"} {
		w = harness.Call(s, http.MethodGet, "/api/OU/All", "", "Accept: "+accepted)
		assert.Equal(t, http.StatusNotAcceptable, w.Code, accepted)
		w = harness.Call(s, http.MethodGet, "/api/OU/All", "", "Accept: "+accepted+", application/x-ndjson;q=0.1")
		assert.Equal(t, mediaNDJSON, w.Header().Get("Content-Type"), accepted)
	}
	w = harness.Call(s, http.MethodGet, "/api/OU/All", "", "Accept: application/xml", "Auth-Token: ")
	assert.Equal(t, http.StatusUnauthorized, w.Code, "strangers learn nothing")
	w = harness.Call(s, http.MethodHead, "/api/OU/All", "", "Accept: text/csv")
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code, "as for JSON")
}

// TestErrorsOfListsAreJSON: errors are JSON, no matter which form the client wants.
func TestErrorsOfListsAreJSON(t *testing.T) {
	s := harness.New(t, harness.Failing(ps.Error{Kind: ps.KindOverloaded}), nil)
	for target, want := range map[string]int{"/api/OU/All": 503, "/api/OU/All?x=1": 400} {
		for _, accept := range []string{"text/csv", "application/x-ndjson"} {
			w := harness.Call(s, http.MethodGet, target, "", "Accept: "+accept)
			assert.Equal(t, want, w.Code)
			harness.Read(t, w)
		}
	}
}

// TestPagesOfForms: the link leads to the next page of the same query.
func TestPagesOfForms(t *testing.T) {
	result := ps.Result{Last: strings.Repeat("0a", 16), Counts: map[string]int{"total": 7}}
	s := harness.New(t, harness.Answering(result), nil)
	target := "/api/ADUser/ListUsers/All?limit=1&Count=true&ShowFields=username,%20city&Text=%3E%C3%BC"
	w := harness.Call(s, http.MethodGet, target+"&&", "", "Accept: text/csv")
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	assert.Equal(t, "username,city\r\n", w.Body.String())
	assert.Equal(t, "7", w.Header().Get("X-Total-Count"))
	link, rest, _ := strings.Cut(w.Header().Get("Link"), ">")
	assert.Equal(t, `; rel="next"`, rest)
	query, cursor, _ := strings.Cut(link, "&After=")
	assert.Equal(t, "<?limit=1&Count=true&ShowFields=username%2C+city&Text=%3E%C3%BC", query)
	next := harness.Call(s, http.MethodGet, "/api/ADUser/ListUsers/All"+link[1:], "", "Accept: text/csv")
	require.Equal(t, http.StatusOK, next.Code, "%s", next.Body)
	assert.Equal(t, w.Header().Get("Link"), next.Header().Get("Link"), "the cursor replaces the former one")
	assert.NotEmpty(t, cursor)
}

// TestStreamedForms: a list that is too long for the gateway to hold is streamed over both versions of HTTP.
func TestStreamedForms(t *testing.T) {
	const records = 300
	config, client := testCertificate(t)
	for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
		for _, accept := range []string{"text/csv", "application/x-ndjson"} {
			for _, fails := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s fails=%t", version, accept, fails), func(t *testing.T) {
					list, begun := pages(records, func(int) {}), make(chan struct{})
					address := running(t, &harness.Runner{Do: func(ctx context.Context, req ps.Request) (*ps.Result, error) {
						result, err := list.Run(ctx, req)
						if fails {
							<-begun
							return nil, &ps.Error{Kind: ps.KindDied, Cause: err}
						}
						return &ps.Result{Server: result.Server, Warnings: []ps.Warning{{Code: "a"}}}, err
					}}, func(o *gateway.Options) {
						o.StreamAbove, o.Connections.TLS = 256<<10, config
						if version == "HTTP/1.1" {
							o.Connections.TLS = nil
						}
					})
					scheme := map[bool]string{true: "http", false: "https"}[version == "HTTP/1.1"]
					r, err := http.NewRequest(http.MethodGet, scheme+"://"+address+"/api/OU/All", nil)
					require.NoError(t, err)
					r.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
					r.Header.Set("Accept", accept)
					answer, err := client.Do(r)
					close(begun)
					require.NoError(t, err)
					defer answer.Body.Close()
					assert.Equal(t, version, answer.Proto)
					assert.Equal(t, http.StatusOK, answer.StatusCode)
					body, err := io.ReadAll(answer.Body)
					if fails {
						require.Error(t, err, "the client must not take the part for the whole")
						return
					}
					require.NoError(t, err)
					assert.Equal(t, "dc1.corp.example", answer.Trailer.Get("X-Directory-Server"))
					assert.Equal(t, "1", answer.Trailer.Get("X-Warning-Count"))
					assert.Equal(t, records, recordsIn(t, accept, string(body)))
				})
			}
		}
	}
}

// recordsIn returns the number of records in a body. It fails the test if a record is incomplete.
func recordsIn(t *testing.T, media, body string) int {
	t.Helper()
	if media == "text/csv" {
		rows, err := csv.NewReader(strings.NewReader(body)).ReadAll() // also fails for rows of other lengths
		require.NoError(t, err)
		return len(rows) - 1
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	for _, line := range lines {
		require.True(t, json.Valid([]byte(line)))
	}
	return len(lines)
}
