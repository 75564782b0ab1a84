package dotnet

// Row is a declared member. Kind is "static", "new", or "" for an instance member.
type Row struct {
	Kind   string
	Member Member
}

// Rows lists the members that a type declares itself.
func Rows(t *Type) []Row {
	if t.class == nil {
		return nil
	}
	var rows []Row
	add := func(kind string, members []Member) {
		for _, m := range members {
			if !m.unsupported {
				rows = append(rows, Row{kind, m})
			}
		}
	}
	add("static", t.class.Static)
	add("new", t.class.New)
	add("", t.class.Members)
	return rows
}

// Aliases lists the accelerators of a type.
func Aliases(t *Type) []string { return t.class.Aliases }

// Generics returns each generic type, closed over System.Object, by its open name.
func Generics() map[string]*Type {
	out := map[string]*Type{}
	for _, g := range registry.generic {
		args := []*Type{TObject, TObject}[:g.arity]
		out[g.name] = closeGeneric(g, args)
	}
	return out
}

// SplitTop is splitTop, for the signatures of rows.
var SplitTop = splitTop

// Types lists the registered types.
func Types() []*Type {
	registry.RLock()
	defer registry.RUnlock()
	return append([]*Type(nil), registry.all...)
}

// NewPSObject returns a PSCustomObject of pairs of name and value.
func NewPSObject(pairs ...any) *PSObject {
	o := &PSObject{}
	setPairs(&o.Props, pairs)
	return o
}
