package procedure

import (
	"fmt"
	"slices"
)

// Given is a procedure in the settings.
type Given struct {
	Name  string
	Title []string // in English, and optionally in German
	Steps []string
}

// usual contains the procedures that every gateway has unless its settings replace them.
var usual = []Given{
	{"join", []string{"Somebody joins", "Jemand kommt"}, []string{
		"user.create FirstName={FirstName}; LastName={LastName}; DisplayName={DisplayName?}; Username={Username}; " +
			"EmailAddress={EmailAddress?}; OUPath={OUPath}; Department={Department?}; JobTitle={JobTitle?}; " +
			"Office={Office?}; Manager={Manager?}",
		"membership.copy From={From?}; Username={Username}",
	}},
	{"move", []string{"Somebody moves to another team", "Jemand wechselt das Team"}, []string{
		// The groups come first, because their plan identifies the person by the distinguished name, which
		// the move changes.
		"membership.copy Username={Username}; From={From?}; Remove={Remove?}",
		"user.update Username={Username}; Department={Department?}; JobTitle={JobTitle?}; Office={Office?}; " +
			"Manager={Manager?}; OUPath={OUPath?}",
	}},
	{"leave", []string{"Somebody leaves", "Jemand geht"}, []string{
		"user.disable Username={Username}",
		"membership.remove Username={Username}; GroupName=*",
		"user.update Username={Username}; Description={Description?}; OUPath={OUPath?}",
	}},
}

// All returns the usual procedures and the procedures in the settings. A procedure in the settings
// replaces the usual one with the same name, or removes it if it has no steps. The error describes a
// mistake in the settings.
func All(given []Given) (all []*Procedure, err error) {
	taken := map[string]bool{}
	for _, g := range given {
		if taken[g.Name] {
			return nil, fmt.Errorf("the name %s is there twice: give every procedure its own", g.Name)
		}
		taken[g.Name] = true
	}
	for _, g := range slices.Concat(usual, given) {
		own := slices.IndexFunc(given, func(other Given) bool { return other.Name == g.Name })
		if own >= 0 {
			g = given[own]
		}
		there := slices.ContainsFunc(all, func(p *Procedure) bool { return p.Name == g.Name })
		if there || len(g.Steps) == 0 && own >= 0 {
			continue
		}
		p, err := New(g.Name, g.Title, g.Steps)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}
