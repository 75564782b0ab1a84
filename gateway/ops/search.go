package ops

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"adgateway/gateway/filter"
	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Parameter names of lists.
const (
	TextName   = "Text"
	FilterName = "Filter"
	LimitName  = "Limit"
	AfterName  = "After"
	CountName  = "Count"
	TypeName   = "Type"
)

// searched adds the parameters that filter a list of objects of a class and split it into pages.
func searched(class *filter.Class, params ...Param) []Param {
	return slices.Concat(params, []Param{
		{Name: TextName, Kind: schema.SearchText(class), Audited: true, Doc: "What people type to find " + class.Name + "."},
		{Name: FilterName, Kind: schema.Filter(class), Audited: true, Doc: "Which " + class.Name + "."},
	}, paged)
}

// paged are the parameters that split a list into pages.
var paged = []Param{
	{Name: LimitName, Kind: schema.Number("The most records of a page.", 1, 1000), Doc: "Answers with a page, in the order of GUIDs; without it the list is whole, in the order of names."},
	{Name: AfterName, Kind: schema.Cursor, Doc: "Answers with the page after another one."},
	{Name: CountName, Kind: schema.Bool, Default: "false", Doc: "Says how many there are in all, which costs a whole search."},
}

// afterLimit refuses a page without a size.
var afterLimit = Rule{
	Doc: "After needs Limit",
	Apply: func(b *Bound) []schema.FieldError {
		if !b.Has(AfterName) || b.Has(LimitName) {
			return nil
		}
		return []schema.FieldError{{Field: AfterName, Code: schema.InvalidRequest,
			Message: "needs Limit: a list without it is whole"}}
	},
}

var staleRows = []*Operation{
	stale(Operation{
		ID: "computer.listStale", Summary: "Lists the computers that have not been used for a number of days, with reason and date.",
		Path: "/api/Computers/Stale", Scope: identity.ComputerRead,
		Fixed:   ps.Args{"Class": ps.List([]string{"computer"})},
		Subject: "computers unused for {Days} days",
	}),
	stale(Operation{
		ID: "user.listStale", Summary: "Lists the users, or managed service accounts, that have not been used for a number of days, with reason and date.",
		Path: "/api/ADUser/ListUsers/Stale", Scope: identity.UserRead,
		Params: []Param{{
			Name: "Class", Kind: schema.WordList("Classes, separated by commas; in JSON also an array.", "user", "serviceAccount"), Default: "user",
			Doc: "Users, managed service accounts, or both.",
		}},
		Subject: "accounts unused for {Days} days",
	}),
}

// stale completes a row that lists unused accounts.
func stale(op Operation) *Operation {
	op.Method, op.Effect = http.MethodGet, Read
	op.Params = slices.Concat(StaleRule, op.Params)
	op.Rules = []Rule{unusedSince}
	if op.Fixed == nil {
		op.Fixed = ps.Args{}
	}
	op.Fixed[sinceArg] = ps.List(nil)
	op.Script, op.Lane = "Get-GatewayStaleList", ps.Directory
	op.Reply = Reply{schema.StaleAccount, List}
	op.Fails = []schema.Code{schema.NotFound, schema.Unprocessable, schema.Ambiguous}
	op.Sample = Given{daysParam: "60"}
	return &op
}

const (
	daysParam = "Days"
	sinceArg  = "Since"

	// ExcludeOU is the parameter of [StaleRule] for OUs to leave out.
	ExcludeOU = "ExcludeOU"
)

// StaleRule are the parameters that determine which accounts count as unused.
var StaleRule = []Param{
	{Name: daysParam, Kind: schema.StaleDays, Required: true, Unsent: true, Example: "60", Doc: "Not used for so many days. An account that never logged on counts from its creation."},
	{Name: "OUPath", Kind: schema.DN, Doc: "Where to search; the whole domain when absent."},
	{Name: ExcludeOU, Kind: schema.MemberList, Example: "OU=Servers,OU=Devices,OU=Corp,DC=corp,DC=example", Doc: "OUs and containers whose objects are left out, with all below them."},
	{Name: "ExcludeGroup", Kind: schema.MemberList, Example: "VPN Users", Doc: "Groups whose members are left out, nested ones included."},
	{Name: "ExcludeName", Kind: schema.MemberList, Example: "SRV*", Doc: "Names that are left out; * stands for any characters."},
}

// unusedSince converts the days to the times that the directory compares.
var unusedSince = Rule{
	Doc: "Days are at least 15",
	Apply: func(b *Bound) []schema.FieldError {
		days, _ := strconv.Atoi(b.Text(daysParam)) // its kind has parsed it
		b.Args[sinceArg] = ps.List(filter.Moment(time.Now().AddDate(0, 0, -days)))
		return nil
	},
}
