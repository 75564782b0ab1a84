package schema

// cmdletNames are the names of attributes in the cmdlets of the directory, where they are
// neither those of the directory nor ours.
var cmdletNames = map[string]string{"sn": "Surname"}

// Elsewhere returns what administrators call a value of a kind in other tools: the name of
// its attribute, and that in the cmdlets; nil if the kind has no attribute.
func Elsewhere(k Kind) []string {
	of, ok := k.(textKind)
	if !ok {
		return nil
	}
	names := []string{of.attribute}
	if name := cmdletNames[of.attribute]; name != "" {
		names = append(names, name)
	}
	return names
}
