package ops

import (
	"slices"

	"adgateway/gateway/schema"
)

// WithETag is the parameter that requests entity tags where they are not sent by default.
const WithETag = "WithETag"

// The headers that make a call depend on the state of its object.
const (
	IfMatch     = "If-Match"
	IfNoneMatch = "If-None-Match"
)

// Guard declares which of these headers a changing row honors. Other headers are refused, never ignored.
type Guard struct {
	// Reader is the row that reads the state for If-Match. It runs in the same run, after the change was
	// announced. It is empty if Pair is set or the row has no If-Match.
	Reader string
	// Identity is the argument of the reader's script that takes the GUID of the first announced
	// object. If it is empty, the reader gets the arguments of the row's own script.
	Identity string
	// Pair reports whether the state is a membership, which the announcement already contains.
	Pair bool

	New   bool   // whether the row accepts If-None-Match: *, with which it does not change an existing object
	Never string // reason why the row does not honor If-Match, as text for people; empty if it does
}

// Matches reports whether the row honors If-Match.
func (g Guard) Matches() bool { return g.Never == "" }

// Tagged reports whether the answer of a row can have entity tags.
func (op *Operation) Tagged() bool {
	tag := op.tagging()
	return tag != nil && op.Protocol == nil && op.Effect != Delete &&
		(op.Reply.Mark == Single || op.Reply.Mark == List && !tag.Alone)
}

func (op *Operation) tagging() *schema.Tagging {
	if op.Reply.Shape == nil {
		return nil
	}
	return op.Reply.Shape.Tag
}

var withETagParam = Param{
	Name: WithETag, Kind: schema.Flag, Implied: "false",
	Doc: "Whether to return entity tags: for a single record in the header ETag, for a list as the last " +
		"member of each record.",
}

// tagged adds [WithETag] to the operations whose answers can have tags, and declares the guards of
// changes.
func tagged(table []*Operation) []*Operation {
	for _, op := range table {
		if op.Tagged() {
			op.Params = append(slices.Clip(op.Params), withETagParam)
		}
		if op.Effect.Writes() && op.Guard == (Guard{}) {
			op.Guard = guardOf(op)
		}
	}
	return table
}

// guardOf returns the guard that follows from the answer of a change.
func guardOf(op *Operation) Guard {
	switch {
	case op.Reply.Shape == schema.Job:
		return Guard{Never: "it applies to a job, which has no tag"}
	case op.Protocol != nil:
		return Guard{Never: "its protocol has no such header"}
	case op.Effect.Creates():
		return Guard{New: true, Never: "it creates a new object"}
	}
	for _, t := range schema.RecordTypes {
		if t.Resource != "" && (op.ID == t.Resource+".change" || op.ID == t.Resource+".delete") {
			return Guard{Reader: t.Resource + ".get"}
		}
	}
	switch op.Reply.Shape {
	case schema.User:
		return Guard{Reader: "user.getByGuid", Identity: existingUser.Arg}
	case schema.Computer:
		return Guard{Reader: "computer.get", Identity: "Identity"}
	case schema.Group:
		return Guard{Reader: "group.get", Identity: existingGroup.Name}
	case schema.OU:
		return Guard{Reader: "ou.getByGuid", Identity: "OUGuid"}
	}
	return Guard{}
}

// guards checks that each row declares its guards and can honor them.
func (c *checker) guards(op *Operation, table []*Operation, fault func(string, ...any)) {
	g := op.Guard
	if !op.Effect.Writes() {
		if g != (Guard{}) {
			fault("reads, but has a guard")
		}
		return
	}
	ways := 0
	for _, way := range []bool{g.Reader != "", g.Pair, g.Never != ""} {
		if way {
			ways++
		}
	}
	if ways != 1 {
		fault("does not say, or says twice, how it honors %s", IfMatch)
		return
	}
	if g.New && !op.Effect.Creates() || g.Identity != "" && g.Reader == "" {
		fault("has a guard that contradicts itself")
	}
	if g.Reader == "" || op.Local {
		return
	}
	at := slices.IndexFunc(table, func(other *Operation) bool { return other.ID == g.Reader })
	if at < 0 {
		fault("has a guard with unknown reader %s", g.Reader)
		return
	}
	reader := table[at]
	script := c.scripts[reader.Script]
	if reader.Effect != Read || reader.Reply.Mark != Single || reader.tagging() == nil ||
		reader.Lane != op.Lane {
		fault("has a guard whose reader %s does not read one record with a tag in its lane", g.Reader)
	}
	own := c.scripts[op.Script]
	for _, p := range script.Params {
		_, given := contextArgs[p.Name]
		_, fixed := reader.Fixed[p.Name]
		same, has := own.Param(p.Name)
		switch {
		case given, fixed, p.Name == g.Identity, !p.Mandatory, p.Name == userFields.Arg:
		case !has || same.Type != p.Type:
			fault("has a guard whose reader %s needs %s, which the row does not have", g.Reader, p.Name)
		}
	}
	if _, has := script.Param(g.Identity); g.Identity != "" && !has {
		fault("has a guard whose reader %s has no %s", g.Reader, g.Identity)
	}
}
