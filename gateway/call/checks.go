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

// checks runs the checks of a dry run on the server that announced the change.
func (t *Trial) checks(ctx context.Context, s *Service, p *Policy) []change.Check {
	if t.call.Op.Lane == ps.DNS {
		return []change.Check{
			notChecked("write_rights", "The DNS server does not show what the gateway may change."),
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
		all = append(all, notChecked("delete_rights", "The directory does not show what the gateway may remove."),
			seen.recycleBin(restorable))
	} else {
		all = append(all, seen.writeRights(t)...)
	}
	if t.call.SetsSecret() {
		all = append(all, seen.passwordPolicy(t))
	}
	if takesName(t.Announced) {
		all = append(all, seen.forest())
	}
	return append(all, notChecked("replication", "The changes in progress on other domain controllers are "+
		"not known."))
}

// forest returns the result of the check for new names, which always succeeds. The script has looked for the
// names in the other domains of the forest, and would have refused a name that is taken.
func (f forecast) forest() change.Check {
	const name = "forest_uniqueness"
	states := f.about("forest")
	switch {
	case len(states) == 1 && states[0].Name == "known":
		return checkPassed(name, "No other domain of the forest has the names.")
	case len(states) == 1 && states[0].Name == "no catalog":
		return notChecked(name, "The domain controller has no global catalog, which knows other domains.")
	}
	return notChecked(name, "The domains of the forest could not be read.")
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
// Recycle Bin, the forest, or the policy for a password.
type fact struct {
	About   string   `json:"about"`
	Name    string   `json:"name"`
	Allowed []string `json:"allowed"` // attributes, or classes
	Days    int      `json:"days"`
	policyFact
}

type forecast []fact

// forecast reads the facts for the checks of a change. It returns none if the script is missing.
func (t *Trial) forecast(ctx context.Context, s *Service, p *Policy, removal bool) (forecast, error) {
	script, known := s.Scripts[ops.ForecastScript]
	if !known {
		return nil, nil
	}
	needs := t.needs()
	args := ps.Args{
		"Written": ps.List(needs.written), "Container": ps.List(needs.containers), "Listed": ps.List(needs.listed),
		"Removal":  ps.Bool(removal),
		"Forest":   ps.Bool(takesName(t.Announced)),
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

// about returns the facts about one kind of subject.
func (f forecast) about(what string) []fact {
	var found []fact
	for i := range f {
		if f[i].About == what {
			found = append(found, f[i])
		}
	}
	return found
}

// unreadable lists the announced changes that need rights other than writing an attribute. Such rights cannot
// be read.
var unreadable = []string{
	change.Existence, change.Parent, change.Protection, "dNSHostName", "servicePrincipalName",
}

// attributeOf returns the attribute that an announced change writes, or "" if the change says nothing about
// rights. A new name is written into the naming attribute of the class. The directory derives the attribute
// name from it, and does not list name among the attributes that may be written.
func (t *Trial) attributeOf(object *ps.Intended, c ps.IntendedChange) string {
	same := c.Before == c.After && !c.Renewed
	switch {
	case same || c.Name == change.PasswordStamp && t.call.SetsSecret() || slices.Contains(unreadable, c.Name):
		return ""
	case c.Name == "name" && strings.HasPrefix(strings.ToUpper(object.DN), "OU="):
		return "ou"
	case c.Name == "name":
		return "cn"
	}
	return change.AttributeOf(c.Name)
}

// needed lists the objects whose rights are read.
type needed struct {
	written    []string // GUIDs of objects whose attributes are written
	containers []string // containers where objects are created, or moved to
	listed     []string // GUIDs of objects whose access lists are written
}

func (t *Trial) needs() (n needed) {
	for i := range t.Announced.Objects {
		object := &t.Announced.Objects[i]
		if object.GUID == "" && object.Parent != "" {
			n.containers = append(n.containers, object.Parent)
			continue
		}
		writes := func(c ps.IntendedChange) bool { return t.attributeOf(object, c) != "" }
		if slices.ContainsFunc(object.Changes, writes) {
			n.written = append(n.written, object.GUID)
		}
		for _, c := range object.Changes {
			switch {
			case c.Before == c.After:
			case c.Name == change.Parent:
				n.containers = append(n.containers, c.After)
			case c.Name == change.Protection:
				n.listed = append(n.listed, object.GUID)
			}
		}
	}
	slices.Sort(n.containers)
	n.containers = slices.Compact(n.containers)
	return n
}

// classes are the classes of created or moved objects, keyed by the shape of their records.
var classes = map[string]string{
	schema.User.Name: "user", schema.Group.Name: "group", schema.Computer.Name: "computer", schema.OU.Name: "organizationalUnit",
}

// rights collects findings about the rights that a change needs.
type rights struct {
	forecast
	class  string // class of the objects; "" if unknown
	looked int    // number of rights that were looked up
	partly bool   // some rights could not be read
	lacks  string // the first missing right, as a sentence
}

// known returns the fact about one subject. If there is none, it sets partly and returns nil.
func (r *rights) known(about, name string) *fact {
	at := slices.IndexFunc(r.forecast, func(f fact) bool {
		return f.About == about && strings.EqualFold(f.Name, name)
	})
	if at < 0 {
		r.partly = true
		return nil
	}
	return &r.forecast[at]
}

// needs records whether a right exists, and the sentence about the first missing right.
func (r *rights) needs(there bool, lacks string, args ...any) {
	if r.looked++; !there && r.lacks == "" {
		r.lacks = fmt.Sprintf(lacks, args...)
	}
}

// in adds the right to create an object in a container. Moving an object to the container needs the same
// right.
func (r *rights) in(container string) {
	if f := r.known("container", container); f != nil {
		there := r.class == "" || slices.Contains(f.Allowed, r.class)
		r.needs(there, "The gateway may not create a %s in '%s'.", r.class, container)
	}
}

// change adds the rights needed for one change of an object.
func (r *rights) change(t *Trial, object *ps.Intended, c ps.IntendedChange) {
	attribute := t.attributeOf(object, c)
	switch {
	case attribute != "":
		if f := r.known("object", object.GUID); f != nil {
			allowed := func(a string) bool { return strings.EqualFold(a, attribute) }
			r.needs(slices.ContainsFunc(f.Allowed, allowed),
				"The gateway may not write the attribute '%s' of '%s'.", attribute, object.DN)
		}
	case c.Before == c.After:
	case c.Name == change.Protection:
		if f := r.known("list", object.GUID); f != nil {
			there := slices.Contains(f.Allowed, "object") && (c.After != yes || slices.Contains(f.Allowed, "parent"))
			r.needs(there, "The gateway may not change the access lists of '%s' and its parent, which protect "+
				"it.", object.DN)
		}
	case c.Name == change.Parent:
		r.in(c.After)
		r.partly = true
	default:
		r.partly = true
	}
}

// writeRights checks that the gateway's account may write and create what was announced. It cannot check the
// rights to remove objects, to write attributes of a new object after its creation, and to reset passwords,
// because these cannot be read.
func (f forecast) writeRights(t *Trial) []change.Check {
	const name = "write_rights"
	r := rights{forecast: f, class: classes[t.call.Op.Reply.Shape.Name]}
	for i := range t.Announced.Objects {
		object := &t.Announced.Objects[i]
		if object.GUID == "" {
			r.in(object.Parent)
			r.partly = true
			continue
		}
		for _, c := range object.Changes {
			r.change(t, object, c)
		}
	}
	others := notChecked("other_rights",
		"The directory does not show whether the gateway has the other rights that the change needs.")
	switch {
	case r.lacks != "":
		return []change.Check{checkFailed(name, r.lacks)}
	case r.looked == 0:
		return []change.Check{notChecked(name, "The directory does not show whether the gateway may do this.")}
	case r.partly:
		return []change.Check{checkPassed(name, "The gateway may write the attributes."), others}
	}
	return []change.Check{checkPassed(name, "The gateway may write what would change.")}
}

// recycleBin checks that the removed objects can be restored, as was announced.
func (f forecast) recycleBin(restorable string) change.Check {
	const name = "recycle_bin"
	found := f.about("bin")
	switch {
	case restorable == "":
		return notChecked(name, "Whether the Recycle Bin is enabled could not be read.")
	case restorable != yes:
		return checkFailed(name, "The Recycle Bin is not enabled: removed objects cannot be restored.")
	case len(found) == 0 || found[0].Days == 0:
		return checkPassed(name, "The Recycle Bin is enabled: removed objects can be restored.")
	}
	return checkPassed(name,
		fmt.Sprintf("The Recycle Bin is enabled: removed objects can be restored for %d days.", found[0].Days))
}
