package procedure

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ui/form"
)

func TestStepsAndBlanks(t *testing.T) {
	p, err := New("badge", []string{"New badge", "Neuer Ausweis"}, []string{
		"user.update Username={Username}; EmployeeNumber={Badge}; Description=Badge {Badge} of {Day?}",
		"membership.add Username={Username}; GroupName={Door?}",
	})
	require.NoError(t, err)
	var labels []string
	for _, f := range p.Fields {
		labels = append(labels, f.Label[0])
	}
	assert.Equal(t, []string{"Person", "Badge", "Day", "Door"}, labels)
	assert.Equal(t, form.Person, p.Field("Username").Pick)
	assert.Equal(t, form.Group, p.Field("Door").Pick, "it is as its parameter")
	assert.True(t, p.Field("Badge").Required)
	assert.False(t, p.Field("Day").Required)
	assert.Nil(t, p.Field("Night"))

	values, does := p.Steps[0].Filled(map[string]string{"Username": "a", "Badge": "7"})
	assert.True(t, does)
	assert.Equal(t, map[string]string{"Username": "a", "EmployeeNumber": "7"}, values)
	values, _ = p.Steps[0].Filled(map[string]string{"Username": "a", "Badge": "{Day}", "Day": "May"})
	assert.Equal(t, "Badge {Day} of May", values["Description"], "what was typed is not read again")
	_, does = p.Steps[1].Filled(map[string]string{"Username": "a"})
	assert.False(t, does, "it needs a group")
	assert.Equal(t, []string{"Badge", "Day"}, p.Steps[0].Blanks("Description"))
}

// TestEachGroupIsNeverTyped: typing the asterisk into a blank does not mean each group.
func TestEachGroupIsNeverTyped(t *testing.T) {
	p, err := New("own", []string{"Own"}, []string{
		"membership.remove Username={Username}; GroupName=*", "membership.remove Username={Username}; GroupName={Door}",
	})
	require.NoError(t, err)
	assert.True(t, p.Steps[0].EachGroup())
	assert.False(t, p.Steps[1].EachGroup())
}

func TestMistakesInProcedures(t *testing.T) {
	for text, want := range map[string]string{
		"user.disabel Username={Username}":                "did you mean user.disable?",
		"user.get Username={Username}":                    "no operation that a list may have",
		"user.disable":                                    "needs the parameter Username",
		"user.disable Username":                           "write Name=value",
		"user.disable User={Username}":                    `has no parameter "User"`,
		"user.disable Username={Username}; DryRun=true":   `has no parameter "DryRun"`,
		"user.disable Username={Username":                 "a brace that is not of a blank",
		"user.disable Username={A}; Username={B}":         "given twice",
		"membership.add Username={Username}; GroupName=*": "only for GroupName of membership.remove",
		"user.disable Username={a}{":                      "a brace",
	} {
		_, err := New("own", []string{"Own"}, []string{text})
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), "step 1 of the procedure own: ", text)
		assert.Contains(t, err.Error(), want, text)
	}
	_, err := New("Own", []string{"Own"}, nil)
	assert.ErrorContains(t, err, "small letters")
	_, err = New("own", nil, nil)
	assert.ErrorContains(t, err, "title")
}

func TestUsualProceduresCanBeReplaced(t *testing.T) {
	names := func(given ...Given) (all []string) {
		found, err := All(given)
		require.NoError(t, err)
		for _, p := range found {
			all = append(all, p.Name+": "+p.Title[0])
		}
		return all
	}
	usual := names()
	assert.Equal(t, []string{
		"join: Somebody joins", "move: Somebody moves to another team", "leave: Somebody leaves",
	}, usual)
	steps := []string{"user.disable Username={Username}"}
	assert.Equal(t, []string{usual[0], "leave: Off", "lock: Lock"}, names(
		Given{"lock", []string{"Lock"}, steps}, Given{"leave", []string{"Off"}, steps}, Given{Name: "move"},
	))
	_, err := All([]Given{{Name: "a"}, {Name: "a"}})
	assert.ErrorContains(t, err, "twice")
}
