package ops

import (
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
		{Name: TextName, Kind: schema.SearchText(class), Audited: true, Doc: "Text to search for. If absent, the " + class.Name + " are not searched by text."},
		{Name: FilterName, Kind: schema.Filter(class), Audited: true, Doc: "Filter that the " + class.Name + " must match. If absent, the " + class.Name + " are not filtered."},
	}, paged)
}

// searchedOU is the OU whose objects a row lists, and belowOU whether it lists those further below, too.
var (
	searchedOU = Param{
		Name: "OUPath", Kind: schema.DN,
		Doc: "OU or container to search. If absent, the whole domain is searched.",
	}
	belowOU = Param{
		Name: "Recursive", Kind: schema.Bool, Default: "true", Doc: "Whether to search below the OU, too.",
	}
)

// paged are the parameters that split a list into pages.
var paged = []Param{
	{Name: LimitName, Kind: schema.Number(1, 1000), Doc: "Maximum number of records in a page; pages are ordered by GUID. If absent, the answer is the whole list, ordered by name."},
	{Name: AfterName, Kind: schema.Cursor, Doc: "Cursor of the page to return. If absent, the first page is returned."},
	{Name: CountName, Kind: schema.Bool, Default: "false", Doc: "Whether to return the total number of records, which requires a complete search."},
}

// listing completes a row that lists objects and splits the list into pages.
func listing(script string, of *schema.Shape, op Operation) *Operation {
	op.Effect, op.Script, op.Reply = Read, script, Reply{of, List}
	op.Rules = []Rule{afterLimit}
	op.Fails = []schema.Code{schema.TokenMismatch, schema.Unprocessable}
	if op.Param("OUPath") != nil {
		op.Fails = []schema.Code{schema.TokenMismatch, schema.NotFound, schema.Unprocessable}
	}
	return &op
}

// afterLimit refuses a page without a size.
var afterLimit = Rule{
	Doc: "After requires Limit",
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
		ID: "computer.listStale", Summary: "Lists the computers that have not been used for a number of days, with the reason and the date.",
		Path: "/api/Computers/Stale", Scope: identity.ComputerRead,
		Fixed:   ps.Args{"Class": ps.List([]string{"computer"})},
		Subject: "computers unused for {Days} days",
	}),
	stale(Operation{
		ID: "user.listStale", Summary: "Lists the users or managed service accounts that have not been used for a number of days, with the reason and the date.",
		Path: "/api/ADUser/ListUsers/Stale", Scope: identity.UserRead,
		Params: []Param{{
			Name: "Class", Kind: schema.WordList("One or more classes, separated by commas; in JSON, also an array.", "user", "serviceAccount"), Default: "user",
			Doc: "Classes of the accounts to list: user for users, serviceAccount for managed service accounts.",
		}},
		Subject: "accounts unused for {Days} days",
	}),
}

// stale completes a row that lists unused accounts.
func stale(op Operation) *Operation {
	op.Effect = Read
	op.Params = slices.Concat(StaleRule, op.Params)
	op.Rules = []Rule{unusedSince}
	if op.Fixed == nil {
		op.Fixed = ps.Args{}
	}
	op.Fixed[sinceArg] = ps.List(nil)
	op.Script = "Get-GatewayStaleList"
	op.Reply = Reply{schema.StaleAccount, List}
	op.Fails = []schema.Code{schema.NotFound, schema.Unprocessable, schema.Ambiguous}
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
	{Name: daysParam, Kind: schema.StaleDays, Required: true, Unsent: true, Example: "60", Doc: "Number of days without a logon. For an account that has never logged on, the days since its creation count."},
	searchedOU,
	{Name: ExcludeOU, Kind: schema.MemberList, Example: "OU=Servers,OU=Devices,OU=Corp,DC=corp,DC=example", Doc: "OUs and containers to leave out, with all objects below them."},
	{Name: "ExcludeGroup", Kind: schema.MemberList, Example: "VPN Users", Doc: "Groups whose direct and nested members are left out."},
	{Name: "ExcludeName", Kind: schema.MemberList, Example: "SRV*", Doc: "Names of accounts to leave out; * matches any characters."},
}

// unusedSince converts the days to the times that the directory compares.
var unusedSince = Rule{
	Doc: "Days must be at least 15",
	Apply: func(b *Bound) []schema.FieldError {
		days, _ := strconv.Atoi(b.Text(daysParam)) // its kind has parsed it
		b.Args[sinceArg] = ps.List(filter.Moment(time.Now().AddDate(0, 0, -days)))
		return nil
	},
}
