package call

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/change"
	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// yes is PowerShell's text of a true value.
const yes = "True"

func checkPassed(name, what string) change.Check {
	return change.Check{Name: name, State: schema.CheckPassed, Message: what}
}
func checkFailed(name, what string) change.Check {
	return change.Check{Name: name, State: schema.CheckFailed, Message: what}
}
func notChecked(name, why string) change.Check {
	return change.Check{Name: name, State: schema.NotChecked, Message: why}
}

// checks checks what a dry run has announced, on the server that announced it.
func (t *Trial) checks(ctx context.Context, s *Service, p *Policy) []change.Check {
	if t.call.Op.Lane == ps.DNS {
		return []change.Check{
			notChecked("write_rights", "The DNS server does not say what the gateway may change."),
		}
	}
	removal := t.Announced.Effect == ps.EffectRemoved && !schema.ShowsMembers(t.call.Op.Reply.Shape)
	restorable := ops.ImageOf(&t.Announced.Objects[0]).Restorable
	seen, err := t.forecast(ctx, s, p, removal && restorable == yes)
	if err != nil {
		s.Log.WithError(err).WithField("request_id", t.call.ID).Warn("what a dry run checks could not be read")
	}
	all := []change.Check{}
	if removal {
		all = append(all, notChecked("delete_rights", "The directory does not say what the gateway may remove."),
			seen.recycleBin(restorable))
	} else {
		all = append(all, seen.writeRights(t))
	}
	if t.call.SetsSecret() {
		all = append(all, seen.passwordPolicy(t))
	}
	if takesName(t.Announced) {
		all = append(all, notChecked("forest_uniqueness",
			"Names that other domains of the forest use are not looked up."))
	}
	return append(all, notChecked("replication", "What other domain controllers are changing is not known."))
}

// takesName reports whether a change gives an object a name that is unique in the forest.
func takesName(i *ps.Intent) bool {
	for n := range i.Objects {
		for _, c := range i.Objects[n].Changes {
			isName := c.Name == "userPrincipalName" || c.Name == "servicePrincipalName"
			creates := c.Name == change.Existence && c.After == "True"
			if c.Before != c.After && c.After != "" && (creates || isName) {
				return true
			}
		}
	}
	return false
}

// fact is a record of the script: the rights to an object or in a container, the
// Recycle Bin, or the policy for a password.
type fact struct {
	About   string   `json:"about"`
	Name    string   `json:"name"`
	Allowed []string `json:"allowed"` // attributes, or classes
	Days    int      `json:"days"`
	policyFact
}

type forecast []fact

// forecast reads what the checks of a change need. Without the script nothing is known.
func (t *Trial) forecast(ctx context.Context, s *Service, p *Policy, removal bool) (forecast, error) {
	script, known := s.Scripts[ops.ForecastScript]
	if !known {
		return nil, nil
	}
	written, containers := t.needs()
	args := ps.Args{
		"Written": ps.List(written), "Container": ps.List(containers), "Removal": ps.Bool(removal),
		"Password": ps.Bool(t.call.SetsSecret()), "Guid": ps.Text(t.Announced.Objects[0].GUID),
	}
	for _, server := range ops.ServerArgs {
		if _, declared := script.Param(server); declared {
			args[server] = ps.Text(t.Plan.Server)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, p.ReadLimit)
	defer cancel()
	var facts []fact
	_, err := s.Runner.Run(ctx, ps.Request{
		ID: t.call.ID, Script: script.Name, Lane: ps.Directory, Args: args, Limit: p.ReadLimit, List: true,
		Records: ps.Collect(&facts),
	})
	if err != nil {
		return nil, err
	}
	return facts, nil
}

// about returns the facts about one kind of things.
func (f forecast) about(what string) []fact {
	var found []fact
	for i := range f {
		if f[i].About == what {
			found = append(found, f[i])
		}
	}
	return found
}

// unreadable are announced changes that need a right of another kind than to write an
// attribute, which cannot be read.
var unreadable = []string{change.Existence, change.Parent, change.Protection, "dNSHostName", "servicePrincipalName"}

// attributeOf returns the attribute that an announced change writes, or "" if that says
// nothing about rights.
func (t *Trial) attributeOf(c ps.IntendedChange) string {
	same := c.Before == c.After && !c.Renewed
	if same || c.Name == change.PasswordStamp && t.call.SetsSecret() || slices.Contains(unreadable, c.Name) {
		return ""
	}
	return change.AttributeOf(c.Name)
}

// needs returns the GUIDs of objects that attributes of are written, and the containers
// that objects are created in.
func (t *Trial) needs() (written, containers []string) {
	for i := range t.Announced.Objects {
		object := &t.Announced.Objects[i]
		if object.GUID == "" && object.Parent != "" {
			containers = append(containers, object.Parent)
			continue
		}
		if slices.ContainsFunc(object.Changes, func(c ps.IntendedChange) bool { return t.attributeOf(c) != "" }) {
			written = append(written, object.GUID)
		}
	}
	slices.Sort(containers)
	return written, slices.Compact(containers)
}

// classes are the classes of objects that are created, by the records that show them.
var classes = map[*schema.Shape]string{
	schema.User: "user", schema.Group: "group", schema.Computer: "computer", schema.OU: "organizationalUnit",
}

// writeRights checks that the gateway's account may write and create what was announced.
// Rights to move and to protect objects and to reset passwords cannot be read.
func (f forecast) writeRights(t *Trial) change.Check {
	const name = "write_rights"
	looked, partly := 0, false
	for i := range t.Announced.Objects {
		object := &t.Announced.Objects[i]
		about, place := "object", object.GUID
		if object.GUID == "" {
			about, place = "container", object.Parent
		}
		at := slices.IndexFunc(f, func(known fact) bool {
			return known.About == about && strings.EqualFold(known.Name, place)
		})
		if at < 0 {
			partly = true
			continue
		}
		if object.GUID == "" {
			class := classes[t.call.Op.Reply.Shape]
			if looked++; class != "" && !slices.Contains(f[at].Allowed, class) {
				return checkFailed(name, fmt.Sprintf("The gateway may not create a %s in '%s'.", class, place))
			}
			continue
		}
		for _, c := range object.Changes {
			attribute := t.attributeOf(c)
			if attribute == "" {
				partly = partly || c.Before != c.After
				continue
			}
			allowed := func(a string) bool { return strings.EqualFold(a, attribute) }
			if looked++; !slices.ContainsFunc(f[at].Allowed, allowed) {
				return checkFailed(name,
					fmt.Sprintf("The gateway may not write the attribute '%s' of '%s'.", attribute, object.DN))
			}
		}
	}
	switch {
	case looked == 0:
		return notChecked(name, "The directory does not say whether the gateway may do this.")
	case partly:
		return checkPassed(name, "The gateway may write the attributes; whether it has the other rights, "+
			"the directory does not say.")
	}
	return checkPassed(name, "The gateway may write what would change.")
}

// recycleBin checks that what is removed can be restored, as was announced.
func (f forecast) recycleBin(restorable string) change.Check {
	const name = "recycle_bin"
	found := f.about("bin")
	switch {
	case restorable == "":
		return notChecked(name, "Whether the Recycle Bin is enabled could not be read.")
	case restorable != yes:
		return checkFailed(name, "The Recycle Bin is not enabled: what is removed cannot be restored.")
	case len(found) == 0 || found[0].Days == 0:
		return checkPassed(name, "The Recycle Bin is enabled: what is removed can be restored.")
	}
	return checkPassed(name,
		fmt.Sprintf("The Recycle Bin is enabled: what is removed can be restored for %d days.", found[0].Days))
}
