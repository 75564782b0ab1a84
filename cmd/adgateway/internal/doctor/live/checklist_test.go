package live

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/cmd/adgateway/internal/doctor"
)

// Items name only probes and checks that exist.
func TestTheCheckListNamesWhatThereIs(t *testing.T) {
	for i, item := range Checklist() {
		assert.NotEmpty(t, item.Area, i+1)
		assert.True(t, strings.HasSuffix(item.Do, "."), item.Do)
		assert.True(t, strings.HasSuffix(item.Expect, "."), item.Expect)
		for _, id := range item.Probes {
			known := id == "*" || slices.ContainsFunc(Probes(), func(p Probe) bool { return p.ID == id })
			assert.True(t, known, "no probe %s", id)
		}
		for _, name := range item.Checks {
			known := slices.ContainsFunc(doctor.Checks(), func(c doctor.Check) bool { return c.Name == name })
			assert.True(t, known, "no check %s", name)
		}
	}
}

func numberOf(t *testing.T, of func(Item) bool) int {
	t.Helper()
	at := slices.IndexFunc(Checklist(), of)
	require.GreaterOrEqual(t, at, 0)
	return at + 1
}

func TestTheCheckListIsFilledIn(t *testing.T) {
	service := numberOf(t, func(i Item) bool { return slices.Equal(i.Checks, []string{"service"}) })
	rights := numberOf(t, func(i Item) bool { return slices.Equal(i.Probes, []string{"rights"}) })
	upgrade := numberOf(t, func(i Item) bool { return i.Area == "installing" })
	certificates := numberOf(t, func(i Item) bool { return i.Area == "certificates" })
	checks := map[string]string{
		"service": "ok", "certificate": "ok", "rights": "no-create", "recycle-bin": "ok", "dns-rights": "ok",
	}
	observed := []Observation{{Fact: "create", Status: Differs}, {Fact: "read", Status: AsExpected}}
	r := &Report{Findings: []Finding{{Probe: "rights", Observations: observed}}}
	var asked []int
	require.NoError(t, r.Fill(checks, func(e Entry) (Entry, error) {
		asked = append(asked, e.Number)
		if e.Number == upgrade {
			return Entry{Status: Differs, Found: "PATH is not set"}, nil
		}
		return Entry{}, nil
	}))
	require.Len(t, r.Checklist, len(Checklist()))
	assert.Equal(t, AsExpected, r.Checklist[service-1].Status)
	assert.Equal(t, Differs, r.Checklist[rights-1].Status)
	assert.Equal(t, "rights: no-create; rights: create", r.Checklist[rights-1].Found)
	item := Checklist()[upgrade-1]
	assert.Equal(t, Entry{
		Number: upgrade, Area: "installing", Item: item.Do, Expect: item.Expect,
		Status: Differs, Found: "PATH is not set",
	}, r.Checklist[upgrade-1])
	assert.Equal(t, Open, r.Checklist[certificates-1].Status, "somebody must try the renewal")
	assert.NotContains(t, asked, service, "who has been answered is not asked")
	assert.Contains(t, asked, certificates)
	assert.Equal(t, 1, r.ExitCode())
	broken := errors.New("the terminal is gone")
	assert.ErrorIs(t, r.Fill(nil, func(Entry) (Entry, error) { return Entry{}, broken }), broken)
	require.NoError(t, r.Fill(nil, nil))
	assert.Equal(t, Open, r.Checklist[upgrade-1].Status)
}

func TestAnswers(t *testing.T) {
	all, err := ReadAnswers(strings.NewReader("# by hand\n\n3 ok\n14 differs no restart\n2 skipped"), 30)
	require.NoError(t, err)
	assert.Equal(t, Answers{
		3: {Status: AsExpected}, 14: {Status: Differs, Found: "no restart"}, 2: {Status: Skipped},
	}, all)
	for _, line := range []string{"3", "x ok", "0 ok", "31 ok", "3 fine", "99999999999999999999 ok"} {
		_, err := ReadAnswers(strings.NewReader("\n"+line), 30)
		assert.ErrorContains(t, err, "line 2", line)
	}
}

func TestNamesAreTakenOut(t *testing.T) {
	r := &Report{
		OU: "OU=Scratch,DC=corp,DC=example", Controller: "dc1.corp.example", Engine: "powershell",
		Findings:  []Finding{{Probe: "rights", Observations: []Observation{{Fact: "create", Message: `CORP\svc may not write to DC1.corp.example; scorps and CORPs stay`}}}},
		Checklist: []Entry{{Number: 1, Found: "seen at corp.example", Status: AsExpected}},
	}
	require.NoError(t, r.Redact(map[string]string{
		"corp.example": "<domain>", "dc1.corp.example": "<controller>", "OU=Scratch,DC=corp,DC=example": "<scratch OU>", `CORP\svc`: "<account>", "CORP": "<domain>", "": "nothing",
	}))
	assert.Equal(t, "<scratch OU>", r.OU)
	assert.Equal(t, "<controller>", r.Controller)
	const want = "<account> may not write to <controller>; scorps and CORPs stay"
	assert.Equal(t, want, r.Findings[0].Observations[0].Message)
	assert.Equal(t, "seen at <domain>", r.Checklist[0].Found)
	assert.Equal(t, AsExpected, r.Checklist[0].Status)
	assert.Equal(t, "powershell", r.Engine)
}
