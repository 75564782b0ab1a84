package joblist_test

import (
	"encoding/json"
	"strings"
	"testing"

	"adgateway/gateway/jobs/joblist"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// written reads a list and writes it as a result with the same outcome for each item.
func written(
	t *testing.T, text string, format joblist.Format, options joblist.ResultOptions, outcome joblist.Outcome,
) string {
	t.Helper()
	list, err := joblist.Read(strings.NewReader(text), format, joblist.Limits{})
	require.NoError(t, err)
	var out strings.Builder
	result := joblist.NewResult(&out, list, options)
	for _, item := range list.Items {
		require.NoError(t, result.Write(item, outcome))
	}
	require.NoError(t, result.Flush())
	return out.String()
}

func TestResult(t *testing.T) {
	done := joblist.Outcome{State: "done", ChangeID: "c1", GUID: "g1", Sealed: "box"}
	failed := joblist.Outcome{State: "failed", Code: "not_found", Message: "=cmd|' /C calc'!A0; \"x\""}
	hidden := func(name string) bool { return strings.EqualFold(name, "newpassword") }
	for name, c := range map[string]struct {
		text     string
		format   joblist.Format
		options  joblist.ResultOptions
		outcome  joblist.Outcome
		expected string
	}{
		"separator, mark and columns as they were": {"\ufeffId;NewPassword;Phone;;Note\r\na;S3cret;+49 30;;\"x;\"\"y\"\"\"\r\n", joblist.CSV,
			joblist.ResultOptions{Format: joblist.CSV, Secret: hidden}, done,
			"\ufeffId;Phone;Note;State;Code;Message;ChangeId;Guid\r\na;+49 30;\"x;\"\"y\"\"\";done;;;c1;g1\r\n"},
		"formulas for others": {"Id;=B;A\n=1+cmd|calc;x;+49 1\n@x;-1;\"\t=1\"\n'x;x=;1\n", joblist.CSV, joblist.ResultOptions{Format: joblist.CSV, Foreign: true}, done,
			"Id;'=B;A;State;Code;Message;ChangeId;Guid\r\n'=1+cmd|calc;x;'+49 1;done;;;c1;g1\r\n'@x;'-1;'\t=1;done;;;c1;g1\r\n'x;x=;1;done;;;c1;g1\r\n"},
		"formulas of NDJSON for others": {`{"id":"=1","operation":"createUser","parameters":{"@x":"\r=1","Y":-1.5,"Z":"=1"},"after":["=2"]}`,
			joblist.NDJSON, joblist.ResultOptions{Format: joblist.CSV, Foreign: true}, done,
			"Id,Operation,IfMatch,After,'@x,Y,Z,State,Code,Message,ChangeId,Guid\r\n'=1,createUser,,'=2,\"'\r\n=1\",'-1.5,'=1,done,,,c1,g1\r\n"},
		"NDJSON for others": {"A\n=1\n", joblist.CSV, joblist.ResultOptions{Format: joblist.NDJSON, Foreign: true}, done,
			`{"line":2,"parameters":{"A":"=1"},"state":"done","changeId":"c1","guid":"g1"}` + "\n"},
		"formulas in what is added": {"A\n=1\n", joblist.CSV, joblist.ResultOptions{Format: joblist.CSV}, failed,
			"A,State,Code,Message,ChangeId,Guid\r\n=1,failed,not_found,\"'=cmd|' /C calc'!A0; \"\"x\"\"\",,\r\n"},
		"names that are taken": {"state\tGUID\nBerlin\tx\n", joblist.CSV, joblist.ResultOptions{Format: joblist.CSV, Sealed: true}, done,
			"state\tGUID\tJobState\tCode\tMessage\tChangeId\tJobGuid\tSealed\r\nBerlin\tx\tdone\t\t\tc1\tg1\tbox\r\n"},
		"empty and clear": {"A,B,C\n<CLEAR>,,x\n", joblist.CSV, joblist.ResultOptions{Format: joblist.CSV}, joblist.Outcome{State: "noop"},
			"A,B,C,State,Code,Message,ChangeId,Guid\r\n<clear>,,x,noop,,,,\r\n"},
		"CSV of NDJSON": {`{"id":"a","operation":"createUser","parameters":{"B":1.50,"NewPassword":"S3cret","A":["x",true],"C":"","D":true,"E":null},"after":["b","c"]}`,
			joblist.NDJSON, joblist.ResultOptions{Format: joblist.CSV, Secret: hidden}, done,
			"Id,Operation,IfMatch,After,B,A,C,D,E,State,Code,Message,ChangeId,Guid\r\na,createUser,,b c,1.50,\"[\"\"x\"\",true]\",<clear>,true,,done,,,c1,g1\r\n"},
		"NDJSON of CSV": {"Id;A;NewPassword\nx;<&>;S3cret", joblist.CSV, joblist.ResultOptions{Format: joblist.NDJSON, Secret: hidden}, failed,
			`{"line":2,"id":"x","parameters":{"A":"<&>"},"state":"failed","code":"not_found","message":"=cmd|' /C calc'!A0; \"x\""}` + "\n"},
		"NDJSON with secrets": {`{"parameters":{"NewPassword":"S3cret"},"ifMatch":"1"}`, joblist.NDJSON,
			joblist.ResultOptions{Format: joblist.NDJSON, Secret: hidden, Sealed: true}, done,
			`{"line":1,"ifMatch":"1","state":"done","changeId":"c1","guid":"g1","sealed":"box"}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := written(t, c.text, c.format, c.options, c.outcome)
			assert.Equal(t, c.expected, got)
			assert.NotContains(t, got, secret)
		})
	}
}

// TestResultOfAJobWithoutItems: a job whose items are gone still has a first row, and removed parameters
// leave empty cells.
func TestResultOfAJobWithoutItems(t *testing.T) {
	list := &joblist.List{Format: joblist.CSV, Separator: ';', Header: []string{"A", "Id"}}
	var out strings.Builder
	result := joblist.NewResult(&out, list, joblist.ResultOptions{Format: joblist.CSV})
	require.NoError(t, result.Flush())
	assert.Equal(t, "A;Id;State;Code;Message;ChangeId;Guid\r\n", out.String())
	out.Reset()
	result = joblist.NewResult(&out, list, joblist.ResultOptions{Format: joblist.CSV})
	require.NoError(t, result.Write(joblist.Item{ID: "x"}, joblist.Outcome{State: "done"}))
	require.NoError(t, result.Flush())
	assert.Equal(t, "A;Id;State;Code;Message;ChangeId;Guid\r\n;x;done;;;;\r\n", out.String())
	out.Reset()
	result = joblist.NewResult(&out, list, joblist.ResultOptions{Format: joblist.NDJSON})
	require.NoError(t, result.Flush())
	assert.Empty(t, out.String())
}

// TestFormulas: every first character that spreadsheets interpret as the start of a formula is
// defused.
func TestFormulas(t *testing.T) {
	for cell, want := range map[string]string{"=1": "'=1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx",
		"x=1": "x=1", "": "", "'x": "'x"} {
		got := written(t, "A\tState\nx\ty", joblist.CSV, joblist.ResultOptions{Format: joblist.NDJSON},
			joblist.Outcome{Message: cell})
		var line struct{ Message string }
		require.NoError(t, json.Unmarshal([]byte(got), &line))
		assert.Equal(t, cell, line.Message, "NDJSON is not for spreadsheets")
		got = written(t, "A;B\nx;y", joblist.CSV, joblist.ResultOptions{Format: joblist.CSV},
			joblist.Outcome{Message: cell})
		again, err := joblist.Read(strings.NewReader(got), joblist.CSV, joblist.Limits{})
		require.NoError(t, err)
		message, _ := again.Items[0].Parameters["Message"].(string)
		assert.Equal(t, want, message)
	}
}

// TestSealedStartsWithPlus: the base64 of one box in 64 begins with +, and must stay unchanged to
// be opened.
func TestSealedStartsWithPlus(t *testing.T) {
	got := written(t, "A\nx\n", joblist.CSV, joblist.ResultOptions{Format: joblist.CSV, Sealed: true},
		joblist.Outcome{State: "done", Sealed: "+box="})
	assert.Equal(t, "A,State,Code,Message,ChangeId,Guid,Sealed\r\nx,done,,,,,+box=\r\n", got)
}
