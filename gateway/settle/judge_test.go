package settle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/ps"
)

// change returns a change of a property. If after has the prefix "renewed", Renewed is set, and the
// rest is the final value.
func change(name, before, after string) ps.IntendedChange {
	if end, renewed := strings.CutPrefix(after, "renewed"); renewed {
		return ps.IntendedChange{Name: name, Before: before, After: end, Renewed: true, Step: "set password"}
	}
	return ps.IntendedChange{Name: name, Before: before, After: after}
}

func TestJudge(t *testing.T) {
	created := change(existence, "False", "True")
	removed := change(existence, "True", "False")
	setPassword := []ps.Step{{Label: "set password"}}
	type changes = []ps.IntendedChange
	type state = map[string]string
	for name, c := range map[string]struct {
		objects []changes
		steps   []ps.Step
		seen    []state
		want    ps.Outcome
	}{
		"created":                         {[]changes{{created}}, nil, []state{{existence: "True"}}, ps.OutcomeDone},
		"not created":                     {[]changes{{created}}, nil, []state{{existence: "False"}}, ps.OutcomeNone},
		"half created":                    {[]changes{{created, change("enabled", "False", "True")}}, nil, []state{{existence: "True", "enabled": "False"}}, ps.OutcomePartial},
		"fully created":                   {[]changes{{created, change("enabled", "False", "True")}}, nil, []state{{existence: "True", "enabled": "True"}}, ps.OutcomeDone},
		"removed":                         {[]changes{{removed}}, nil, []state{{existence: "False"}}, ps.OutcomeDone},
		"not removed":                     {[]changes{{removed}}, nil, []state{{existence: "True"}}, ps.OutcomeNone},
		"one of two removed":              {[]changes{{removed}, {removed}}, nil, []state{{existence: "False"}, {existence: "True"}}, ps.OutcomePartial},
		"only its protection lifted":      {[]changes{{removed, change("protected", "True", "True")}}, nil, []state{{existence: "True", "protected": "False"}}, ps.OutcomePartial},
		"nothing to change":               {[]changes{{change("l", "x", "x")}}, nil, []state{{"l": "x"}}, ps.OutcomeDone},
		"changed":                         {[]changes{{change("l", "x", "y")}}, nil, []state{{"l": "y"}}, ps.OutcomeDone},
		"not changed in case":             {[]changes{{change("name", "x", "X")}}, nil, []state{{"name": "x"}}, ps.OutcomeNone},
		"moved, in another case":          {[]changes{{change(parent, "OU=a", "OU=b")}}, nil, []state{{parent: "ou=B"}}, ps.OutcomeDone},
		"moved, protection still lifted":  {[]changes{{change(parent, "a", "b"), change("protected", "True", "True")}}, nil, []state{{parent: "b", "protected": "False"}}, ps.OutcomePartial},
		"changed by somebody else":        {[]changes{{change("l", "x", "y")}}, nil, []state{{"l": "z"}}, ps.OutcomeUnknown},
		"somebody else changed it after":  {[]changes{{change("l", "x", "y"), change("st", "", "q")}}, nil, []state{{"l": "z", "st": "q"}}, ps.OutcomeDone},
		"changed by somebody else, or us": {[]changes{{change("l", "x", "y"), change("st", "", "q")}}, nil, []state{{"l": "z", "st": ""}}, ps.OutcomeUnknown},
		"second change not reached":       {[]changes{{change("l", "x", "y"), change("st", "", "q")}}, nil, []state{{"l": "x", "st": "z"}}, ps.OutcomeNone},
		"removed meanwhile":               {[]changes{{change("l", "x", "y")}}, nil, []state{{existence: "False"}}, ps.OutcomeUnknown},
		"not seen":                        {[]changes{{change("l", "x", "y")}}, nil, nil, ps.OutcomeUnknown},
		"state not reported":              {[]changes{{change("l", "x", "y")}}, nil, []state{{}}, ps.OutcomeUnknown},
		"password set":                    {[]changes{{change("pwdLastSet", "5", "renewed")}}, nil, []state{{"pwdLastSet": "6"}}, ps.OutcomeDone},
		"password not set":                {[]changes{{change("pwdLastSet", "5", "renewed")}}, setPassword, []state{{"pwdLastSet": "5"}}, ps.OutcomeNone},
		"password set and forced":         {[]changes{{change("pwdLastSet", "5", "renewed0")}}, nil, []state{{"pwdLastSet": "0"}}, ps.OutcomeDone},
		"password set, not forced":        {[]changes{{change("pwdLastSet", "5", "renewed0")}}, nil, []state{{"pwdLastSet": "6"}}, ps.OutcomePartial},
		"forced before, not forced":       {[]changes{{change("pwdLastSet", "0", "renewed0")}}, nil, []state{{"pwdLastSet": "6"}}, ps.OutcomePartial},
		"forced before and after":         {[]changes{{change("pwdLastSet", "0", "renewed0")}}, nil, []state{{"pwdLastSet": "0"}}, ps.OutcomeUnknown},
		"forced before and after, step":   {[]changes{{change("pwdLastSet", "0", "renewed0")}}, setPassword, []state{{"pwdLastSet": "0"}}, ps.OutcomeDone},
		"forced before, enabled after":    {[]changes{{created, change("pwdLastSet", "0", "renewed0"), change("enabled", "False", "True")}}, nil, []state{{existence: "True", "pwdLastSet": "0", "enabled": "True"}}, ps.OutcomeDone},
		"forced before, not enabled":      {[]changes{{created, change("pwdLastSet", "0", "renewed0"), change("enabled", "False", "True")}}, nil, []state{{existence: "True", "pwdLastSet": "0", "enabled": "False"}}, ps.OutcomePartial},
		"member, of two objects":          {[]changes{{change("member", "False", "True")}, {}}, nil, []state{{existence: "True", "member": "True"}}, ps.OutcomeDone},
	} {
		t.Run(name, func(t *testing.T) {
			intent := &ps.Intent{}
			for _, changes := range c.objects {
				intent.Objects = append(intent.Objects, ps.Intended{DN: "CN=x", Changes: changes})
			}
			var seen []observation
			for _, state := range c.seen {
				seen = append(seen, observation{State: state})
			}
			got := judge(intent, c.steps, seen)
			assert.Equal(t, c.want, got.outcome, "%q", got.notes)
			assert.Len(t, got.objects, len(c.objects))
			assert.Equal(t, c.want == ps.OutcomePartial || c.want == ps.OutcomeUnknown && len(c.seen) > 0,
				len(got.notes) > 0, "%q", got.notes)
		})
	}
}
