package ops

import (
	"slices"

	"adgateway/gateway/filter"
	"adgateway/gateway/schema"
)

// Names of the parameters of lists.
const (
	TextName   = "Text"
	FilterName = "Filter"
	LimitName  = "Limit"
	AfterName  = "After"
	CountName  = "Count"
	TypeName   = "Type"
)

// searched adds the parameters by which a list of objects of a class is narrowed and
// read in pages.
func searched(class *filter.Class, params ...Param) []Param {
	return slices.Concat(params, []Param{
		{Name: TextName, Kind: schema.SearchText(class), Audited: true, Doc: "What people type to find " + class.Name + "."},
		{Name: FilterName, Kind: schema.Filter(class), Audited: true, Doc: "Which " + class.Name + "."},
	}, paged)
}

// paged are the parameters by which a list is read in pages.
var paged = []Param{
	{Name: LimitName, Kind: schema.Number("The most records of a page.", 1, 1000), Doc: "Answers with a page, in the order of GUIDs; without it the list is whole, in the order of names."},
	{Name: AfterName, Kind: schema.Cursor, Doc: "Answers with the page after another one."},
	{Name: CountName, Kind: schema.Bool, Default: "false", Doc: "Says how many there are in all, which costs a whole search."},
}

// afterLimit is about a page of which the size is not known.
var afterLimit = Rule{
	Doc: "After needs Limit",
	Apply: func(b *Bound) []schema.FieldError {
		if !b.Has(AfterName) || b.Has(LimitName) {
			return nil
		}
		return []schema.FieldError{{Field: AfterName, Code: schema.InvalidRequest, Message: "needs Limit: a list without it is whole"}}
	},
}
