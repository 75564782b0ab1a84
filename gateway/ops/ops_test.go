package ops

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// wanted returns scripts that declare exactly the parameters that the rows pass.
func wanted(table []*Operation) []ps.Script {
	var scripts []ps.Script
	for _, op := range table {
		if op.Script == "" {
			continue
		}
		at := slices.IndexFunc(scripts, func(s ps.Script) bool { return s.Name == op.Script })
		if at < 0 {
			at = len(scripts)
			scripts = append(scripts, ps.Script{Name: op.Script, Lane: op.Lane, Writes: op.Effect.Writes(),
				Params: []ps.Param{
					{Name: "AllowedOU", Type: "string[]"}, {Name: "Server", Type: "string", Mandatory: true},
				}})
		}
		for name, value := range op.Fixed {
			if _, has := scripts[at].Param(name); !has {
				scripts[at].Params = append(scripts[at].Params, ps.Param{Name: name, Type: value.Type()})
			}
		}
		if op.Protocol != nil {
			for name, typ := range op.Protocol.Supplies {
				if _, has := scripts[at].Param(name); !has {
					scripts[at].Params = append(scripts[at].Params, ps.Param{Name: name, Type: typ})
				}
			}
		}
		for _, p := range op.Params {
			for _, part := range p.Parts() {
				if _, has := scripts[at].Param(p.arg() + part.Suffix); !has {
					scripts[at].Params = append(scripts[at].Params, ps.Param{Name: p.arg() + part.Suffix, Type: part.Type})
				}
			}
		}
	}
	return append(scripts, settling(table)...)
}

// settling returns the scripts that settle the rows.
func settling(table []*Operation) []ps.Script {
	var scripts []ps.Script
	for _, op := range table {
		for name, writes := range map[string]bool{op.Settle.Script: false, op.Settle.CleanUp: true} {
			if name == "" || slices.ContainsFunc(scripts, func(s ps.Script) bool { return s.Name == name }) {
				continue
			}
			scripts = append(scripts, ps.Script{Name: name, Lane: op.Lane, Writes: writes, Params: []ps.Param{
				{Name: "Class", Type: "string"}, {Name: "Set", Type: "bool"}, {Name: "Form", Type: "string"}, {Name: SettleGuids, Type: "string[]"}, {Name: "Server", Type: "string", Mandatory: true},
			}})
		}
	}
	return scripts
}

func TestTheTableHasNoFaults(t *testing.T) {
	assert.Empty(t, Check(Table(), wanted(Table())))
}

func TestUserInputsMatchTheContract(t *testing.T) {
	var names []string
	for _, p := range userInputs {
		if schema.AttributeOf(p.Kind) != nil || p.Name == "Name" || p.Name == "UserPrincipalName" {
			continue // arguments that are added separately
		}
		names = append(names, p.Name)
	}
	slices.Sort(names)
	want := strings.Fields("Password FirstName Initials LastName DisplayName Description EmailAddress " +
		"Department Office Company JobTitle OUPath ChangePasswordNextLogon PasswordNeverExpired Manager Street " +
		"POBox City State ZipCode Country OfficePhone HomePhone MobilePhone ProfilePath ProfileLogonScript " +
		"HomeFolderDirectory HomeFolderDrive HomeFolderPath RdsProfilePath RdsHomeFolderPath RdsHomeFolderDrive " +
		"RdsConnectDrive RdsAllowLogon")
	slices.Sort(want)
	assert.Equal(t, want, names)
}

// good returns a valid row for tests to break.
func good() *Operation {
	return &Operation{
		ID: "thing.get", Summary: "Shows a thing.", Method: http.MethodGet, Path: "/api/Thing/{Name}",
		Scope: identity.UserRead, Effect: Read,
		Params: []Param{
			{Name: "Name", Path: "Name", Kind: schema.Identity, Required: true},
			{Name: "Land", Kind: schema.Country},
		},
		Script: "Get-Thing", Lane: ps.Directory, Reply: Reply{schema.Existence, Exists}, Subject: "thing '{Name}'",
		Sample: Given{"Name": "x"},
	}
}

func goodScript() ps.Script {
	return ps.Script{Name: "Get-Thing", Lane: ps.Directory, Params: []ps.Param{
		{Name: "Name", Type: "string", Mandatory: true}, {Name: "LandCode2", Type: "string"}, {Name: "LandName", Type: "string"}, {Name: "LandNumber", Type: "int"},
		{Name: "Privileged", Type: "bool"}, {Name: "Server", Type: "string", Mandatory: true},
	}}
}

func TestCheckFindsEveryFault(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(op *Operation, script *ps.Script)
		want  []string
	}{
		"none":                {func(*Operation, *ps.Script) {}, nil},
		"no texts":            {func(op *Operation, _ *ps.Script) { op.Summary, op.Subject = "", "" }, []string{"has no id"}},
		"no scope":            {func(op *Operation, _ *ps.Script) { op.Scope = "" }, []string{"has no specific scope"}},
		"scope of everything": {func(op *Operation, _ *ps.Script) { op.Scope = identity.All }, []string{"has no specific scope"}},
		"unknown scope":       {func(op *Operation, _ *ps.Script) { op.Scope = "user:fly" }, []string{"has no specific scope"}},
		"no effect":           {func(op *Operation, _ *ps.Script) { op.Effect = 0 }, []string{"has no effect"}},
		"read that is a PUT":  {func(op *Operation, _ *ps.Script) { op.Method = http.MethodPut }, []string{"has effect read but method PUT"}},
		"GET that writes":     {func(op *Operation, _ *ps.Script) { op.Effect = Delete }, []string{"has effect delete but method GET", "writes, but has no sentence for success", "writes, but does not declare how it is settled", "does not say, or says twice, how it honors If-Match", "does not declare how it is undone, or why not"}},
		"here, not local":     {func(op *Operation, _ *ps.Script) { op.Here = true }, []string{"is Here, which only reads that are Local may be"}},
		"no reply":            {func(op *Operation, _ *ps.Script) { op.Reply = Reply{} }, []string{"has no reply"}},
		"unknown code":        {func(op *Operation, _ *ps.Script) { op.Fails = []schema.Code{"oops"} }, []string{`unknown code "oops"`}},
		"relative path":       {func(op *Operation, _ *ps.Script) { op.Path = "Thing/{Name}/" }, []string{`has invalid path "Thing/{Name}/"`}},
		"placeholder alone":   {func(op *Operation, _ *ps.Script) { op.Path = "/api/Thing/{Name}/{Other}" }, []string{"placeholder {Other} has no parameter"}},
		"parameter alone":     {func(op *Operation, _ *ps.Script) { op.Path = "/api/Thing" }, []string{"belongs to placeholder {Name}, which the path does not have"}},
		"placeholder twice": {func(op *Operation, _ *ps.Script) {
			op.Params[1].Path, op.Params[1].Required, op.Sample["Land"] = "Name", true, "GR"
		}, []string{"placeholder {Name} has several parameters"}},
		"optional in path": {func(op *Operation, _ *ps.Script) { op.Params[0].Required = false }, []string{"is in the path but not required", "Name may be absent, but the script's Name is mandatory"}},
		"secret in path": {func(op *Operation, s *ps.Script) {
			op.Params[0].Kind = schema.Password
			s.Params[0].Type = "securestring"
		}, []string{"is a secret in the path", "has a sentence with {Name}"}},
		"no kind":            {func(op *Operation, _ *ps.Script) { op.Params[1].Kind = nil }, []string{"parameter Land has no kind"}},
		"name taken":         {func(op *Operation, _ *ps.Script) { op.Params[1].Name, op.Params[1].Arg = "NAME", "Land" }, []string{`parameter "NAME": the name is empty or taken`}},
		"name of the token":  {func(op *Operation, _ *ps.Script) { op.Params[1].Name, op.Params[1].Arg = "auth-token", "Land" }, []string{`"auth-token": the name is empty or taken`}},
		"default never used": {func(op *Operation, _ *ps.Script) { op.Params[0].Default = "x" }, []string{"is required and has a default"}},
		"bad default": {func(op *Operation, _ *ps.Script) {
			op.Params[1].Default, op.Sample["Land"] = "Nowhere", "GR"
		}, []string{"has a default that must be a country"}},
		"open secret":         {func(op *Operation, _ *ps.Script) { op.Params[1].Name, op.Params[1].Arg = "newPassword", "Land" }, []string{"is named like a secret but is not one"}},
		"unknown placeholder": {func(op *Operation, _ *ps.Script) { op.Subject = "thing '{Nome}'" }, []string{"has a sentence with {Nome}"}},
		"open brace":          {func(op *Operation, _ *ps.Script) { op.Success = "The {thing was found." }, []string{"has a sentence with a brace that is not one of a placeholder"}},
		"no sample":           {func(op *Operation, _ *ps.Script) { op.Sample = nil }, []string{"has no sample"}},
		"sample of another row": {func(op *Operation, _ *ps.Script) { op.Sample = Given{"name": "x"} }, []string{
			"has a sample with name, which is not a parameter", "has a sample that is refused: Name is required",
		}},
		"sample that is refused": {func(op *Operation, _ *ps.Script) {
			op.Sample = Given{"Name": "x", "Land": "Nowhere"}
		}, []string{"has a sample that is refused: Land must be a country"}},
		"no script":              {func(op *Operation, _ *ps.Script) { op.Script = "Get-Other" }, []string{`has no script "Get-Other"`, "script Get-Thing: no operation uses it"}},
		"other lane":             {func(_ *Operation, s *ps.Script) { s.Lane = ps.DNS }, []string{"is in lane directory, but its script in dns"}},
		"read that writes":       {func(_ *Operation, s *ps.Script) { s.Writes = true }, []string{"reads, but its script calls a cmdlet that writes"}},
		"argument lacking":       {func(_ *Operation, s *ps.Script) { s.Params = s.Params[:2] }, []string{"feeds LandName, which the script does not declare", "feeds LandNumber, which the script does not declare"}},
		"argument of other type": {func(_ *Operation, s *ps.Script) { s.Params[3].Type = "string" }, []string{"yields int, but the script's LandNumber is string"}},
		"argument fed twice":     {func(op *Operation, _ *ps.Script) { op.Params[1].Kind, op.Params[1].Arg = schema.Identity, "Name" }, []string{"may be absent, but the script's Name is mandatory", "several parameters feed Name"}},
		"argument not fed": {func(_ *Operation, s *ps.Script) {
			s.Params = append(s.Params, ps.Param{Name: "More", Type: "string", Mandatory: true})
		}, []string{"nothing feeds the script's mandatory More"}},
		"fixed": {func(op *Operation, s *ps.Script) {
			op.Fixed = ps.Args{"Sort": ps.Text("a")}
			s.Params = append(s.Params, ps.Param{Name: "Sort", Type: "string", Mandatory: true})
		}, nil},
		"fixed argument lacking": {func(op *Operation, _ *ps.Script) { op.Fixed = ps.Args{"Sort": ps.Text("a")} }, []string{"fixes Sort, which the script does not declare"}},
		"fixed of other type": {func(op *Operation, _ *ps.Script) {
			op.Fixed, op.Params[1].Kind = ps.Args{"LandNumber": ps.Text("a")}, schema.Identity
		}, []string{"fixes LandNumber as string, but the script declares int", "feeds Land, which the script does not declare"}},
		"fixed and fed":         {func(op *Operation, _ *ps.Script) { op.Fixed = ps.Args{"Name": ps.Text("a")} }, []string{"parameter Name feeds Name, which is fixed"}},
		"fixed context":         {func(op *Operation, _ *ps.Script) { op.Fixed = ps.Args{"Privileged": ps.Bool(true)} }, []string{"fixes Privileged, which a row must not set"}},
		"context of other type": {func(_ *Operation, s *ps.Script) { s.Params[4].Type = "string" }, []string{"the script's Privileged is string, not bool"}},
	} {
		t.Run(name, func(t *testing.T) {
			op, script := good(), goodScript()
			c.spoil(op, &script)
			var got []string
			for _, fault := range Check([]*Operation{op}, []ps.Script{script}) {
				got = append(got, fault.Error())
			}
			require.Len(t, got, len(c.want), "%q", got)
			for i, want := range c.want {
				assert.Contains(t, got[i], want)
			}
		})
	}
}

// TestWhatWasCheckedHidesNoFault: a table without a fault is remembered, and no other table passes in
// its place.
func TestWhatWasCheckedHidesNoFault(t *testing.T) {
	row := good()
	for range 2 {
		require.Empty(t, Check([]*Operation{row}, []ps.Script{goodScript()}))
	}
	broken := *row
	broken.Summary = ""
	assert.Len(t, Check([]*Operation{&broken}, []ps.Script{goodScript()}), 1)
	for name, spoil := range map[string]func(*ps.Script){
		"name":      func(s *ps.Script) { s.Name = "Get-Other" },
		"lane":      func(s *ps.Script) { s.Lane = ps.DNS },
		"writes":    func(s *ps.Script) { s.Writes = true },
		"parameter": func(s *ps.Script) { s.Params[0].Type = "int" },
	} {
		require.Empty(t, Check([]*Operation{row}, []ps.Script{goodScript()}))
		script := goodScript()
		spoil(&script)
		assert.NotEmpty(t, Check([]*Operation{row}, []ps.Script{script}), name)
	}
	assert.NotEmpty(t, Check([]*Operation{row}, nil))
}

func TestCheckFindsConflictsBetweenRows(t *testing.T) {
	a, b := good(), good()
	b.Path = "/api/THING/{Other}"
	b.Params[0].Path = "Other"
	faults := Check([]*Operation{a, b}, []ps.Script{goodScript(), goodScript()})
	require.Len(t, faults, 3)
	for i, want := range []string{"script Get-Thing: declared twice", "the same id thing.get",
		"the same route GET /api/thing/{}"} {
		assert.ErrorContains(t, faults[i], want)
	}
}

func TestEmptyStrings(t *testing.T) {
	param := func(p Param) []Param { return []Param{p} }
	text := Param{Name: "Text", Kind: schema.Text("sn")}
	for name, c := range map[string]struct {
		effect Effect
		params []Param
		args   string // arguments of the script, or the problem
	}{
		"read":                        {Read, param(text), "map[]"},
		"create":                      {Create, param(text), "map[]"},
		"create, country":             {Create, param(Param{Name: "Land", Kind: schema.Country}), "map[]"},
		"create, with a default":      {Create, param(Param{Name: "On", Kind: schema.Bool, Default: "true"}), "map[On:true]"},
		"create, required":            {Create, param(Param{Name: "Text", Kind: schema.Text("sn"), Required: true}), "Text is required"},
		"update clears":               {Update, param(text), `map[Text:""]`},
		"update clears a country":     {Update, param(Param{Name: "Land", Kind: schema.Country}), `map[LandCode2:"" LandName:"" LandNumber:0]`},
		"update cannot clear boolean": {Update, param(Param{Name: "On", Kind: schema.Bool}), "map[]"},
		"update keeps the OU":         {Update, param(Param{Name: "OUPath", Kind: schema.DN}), "map[]"},
		"update, secret":              {Update, param(Param{Name: "Password", Kind: schema.Password}), "Password must not be empty: leave it out or fill it in"},
		"create, secret":              {Create, param(Param{Name: "Password", Kind: schema.Password}), "Password must not be empty: leave it out or fill it in"},
		"update, required":            {Update, param(Param{Name: "UserGuid", Kind: schema.GUID, Required: true}), "UserGuid is required"},
		"delete":                      {Delete, param(text), "map[]"},
		"delete, more without it":     {Delete, param(Param{Name: "Text", Kind: schema.Text("sn"), Narrows: true}), "Text must not be empty: leave it out or fill it in"},
		"move":                        {Move, param(text), "map[]"},
		"rename":                      {Rename, param(text), "map[]"},
		"delete, fields":              {Delete, param(Param{Name: "ShowFields", Arg: "Field", Kind: schema.FieldList(schema.Existence), Default: "*"}), `map[Field:["exists" "guid" "distinguishedName"]]`},
	} {
		t.Run(name, func(t *testing.T) {
			op := &Operation{Effect: c.effect, Params: c.params, Reply: Reply{Shape: schema.Existence}}
			bound, problems := op.Bind(Given{c.params[0].Name: ""})
			got := fmt.Sprint(map[string]ps.Value(bound.Args))
			if len(problems) > 0 {
				require.Len(t, problems, 1)
				got = problems[0].Field + " " + problems[0].Message
			}
			assert.Equal(t, c.args, got)
		})
	}
}

func TestFixedArgumentsAreBoundOnEveryCall(t *testing.T) {
	op := good()
	op.Fixed = ps.Args{"Sort": ps.Text("a")}
	for range 2 {
		bound, problems := op.Bind(Given{"Name": "x"})
		require.Empty(t, problems)
		assert.Equal(t, ps.Args{"Name": ps.Text("x"), "Sort": ps.Text("a")}, bound.Args)
	}
	assert.Len(t, op.Fixed, 1, "a request must not change its row")
	assert.Empty(t, op.FieldOf("Sort"), "no parameter feeds a fixed argument")
}

func TestCreatingAUser(t *testing.T) {
	op := Find(Table(), "user.create")
	for name, c := range map[string]struct {
		given Given
		args  string
		wrong string
	}{
		"alone":                   {Given{}, ``, ""},
		"never expires":           {Given{"PasswordNeverExpired": "true"}, `PasswordNeverExpired:true`, ""},
		"neither":                 {Given{"PasswordNeverExpired": "false", "ChangePasswordNextLogon": "FALSE"}, `ChangePasswordNextLogon:false PasswordNeverExpired:false`, ""},
		"both":                    {Given{"PasswordNeverExpired": true, "ChangePasswordNextLogon": "true"}, `ChangePasswordNextLogon:true PasswordNeverExpired:true`, ""},
		"country":                 {Given{"Country": "greece"}, `CountryCode2:"GR" CountryName:"Greece" CountryNumber:300`, ""},
		"password":                {Given{"Password": "geheim"}, `Password:***`, ""},
		"empty password":          {Given{"Password": ""}, "", "Password must not be empty: leave it out or fill it in"},
		"home folder on a drive":  {Given{"HomeFolderDrive": "H:", "HomeFolderDirectory": `\\a\b`}, `HomeFolderDirectory:"\\\\a\\b" HomeFolderDrive:"H:"`, ""},
		"home folder, two ways":   {Given{"HomeFolderPath": "x", "HomeFolderDirectory": `\\a\b`}, "", "HomeFolderPath is another name of HomeFolderDirectory and must not differ from it"},
		"home folder, empty path": {Given{"HomeFolderPath": "", "HomeFolderDirectory": `\\a\b`}, `HomeFolderDirectory:"\\\\a\\b"`, ""},
		"drive alone":             {Given{"HomeFolderDrive": "H:"}, `HomeFolderDrive:"H:"`, ""},
		"several problems":        {Given{"Initials": "1234567", "Country": "X", "Manager": true}, "", "Initials must be at most 6 characters long; Manager must be text, not a boolean; Country must be a country: its ISO 3166-1 code such as GR or GRC, or its name in English such as Greece"},
	} {
		t.Run(name, func(t *testing.T) {
			c.given["Username"] = "jdoe"
			bound, problems := op.Bind(c.given)
			if c.wrong != "" {
				var got []string
				for _, problem := range problems {
					require.Equal(t, schema.InvalidRequest, problem.Code)
					got = append(got, problem.Field+" "+problem.Message)
				}
				assert.Equal(t, c.wrong, strings.Join(got, "; "))
				return
			}
			require.Empty(t, problems)
			assert.Equal(t, `"jdoe"`, bound.Args["UserName"].String())
			assert.Equal(t, `"guid" "username"`, regexp.MustCompile(`^\[(\S+ \S+) `).FindStringSubmatch(bound.Args["Field"].String())[1])
			delete(bound.Args, "UserName")
			delete(bound.Args, "Field")
			delete(bound.Args, "Kept")
			assert.Equal(t, "map["+c.args+"]", fmt.Sprint(map[string]ps.Value(bound.Args)))
			_, password := c.given["Password"]
			assert.Equal(t, password && c.given["Password"] != "",
				slices.Contains(bound.Scopes, identity.UserPassword))
			assert.Empty(t, bound.Text("Password"))
		})
	}
}

func TestNamesThatAreTooLongTogetherWithTheirZone(t *testing.T) {
	label := strings.Repeat("a", 60) + "."
	long := strings.TrimSuffix(strings.Repeat(label, 4), ".") // 243
	for _, c := range []struct {
		id, owner, target, zone string
		want                    string
	}{
		{"cname.create", long, "web", "x.example", ""},
		{"cname.create", long, "web", "xy.example", "unprocessable DNS_HostName"},
		{"cname.get", long, "web", "xy.example", "not_found DNS_HostName"},
		{"cname.delete", long, "web", "xy.example", "not_found DNS_HostName"},
		{"cname.create", long + ".", "web", "xy.example", ""},
		{"cname.create", "a.XY.example", "web", "xy.example", ""},
		{"cname.create", "@", "web", long, ""},
		{"cname.create", "longer-than-ten", "longer-than-ten", long, "unprocessable DNS_HostName,unprocessable DNS_HostName_Alias"},
		{"cname.create", "www", "longer-than-ten.", long, ""},
	} {
		_, problems := Find(Table(),
			c.id).Bind(Given{"DNS_HostName": c.owner, "DNS_HostName_Alias": c.target, "ZoneName": c.zone})
		var got []string
		for _, problem := range problems {
			got = append(got, string(problem.Code)+" "+problem.Field)
		}
		assert.Equal(t, c.want, strings.Join(got, ","), "%+v", c)
	}
}

func TestSentences(t *testing.T) {
	op := Find(Table(), "reverseZone.delete")
	bound, problems := op.Bind(Given{"NetworkIDOrZoneName": "10.0.0.0/8"})
	require.Empty(t, problems)
	assert.Equal(t, "reverse zone '10.in-addr.arpa'", op.SubjectOf(bound))
	assert.Equal(t, "The reverse zone '10.in-addr.arpa' was removed with 2 records.",
		op.Sentence(op.Success, bound, 1, &ps.Result{Counts: map[string]int{"records": 2}}))
	assert.Equal(t, "1 record found", op.Sentence("{records} found", bound, 1, nil))
	assert.Equal(t, "0 records found", op.Sentence("{records} found", bound, 0, nil))

	op = Find(Table(), "user.get")
	bound, _ = op.Bind(Given{"Username": strings.Repeat("ä", 300) + "{subject}"})
	assert.Equal(t, "The user '"+strings.Repeat("ä", 200)+"…' was found.",
		op.Sentence("The {subject} was found.", bound, 1, nil))
	bound, _ = op.Bind(Given{"Username": "{records}$1"})
	assert.Equal(t, "The user '{records}$1' was found.", op.Sentence("The {subject} was found.", bound, 1, nil),
		"placeholders in values are not replaced")
	op = Find(Table(), "aaaa.listAddress")
	bound, problems = op.Bind(Given{"IPv6_Address": "2001:db8::1"})
	require.Empty(t, problems)
	assert.Contains(t, op.SubjectOf(bound), "'2001:db8::1'", "a name with a digit")
}

func TestFieldOf(t *testing.T) {
	op := Find(Table(), "user.create")
	for arg, want := range map[string]string{"UserName": "Username", "CountryCode2": "Country",
		"Country": "Country", "Field": "ShowFields", "OUPath": "OUPath", "Server": "", "": ""} {
		assert.Equal(t, want, op.FieldOf(arg), arg)
	}
}

func TestFoldChangesOnlyASCII(t *testing.T) {
	assert.Equal(t, "abz", Fold("aBZ"))
	assert.Equal(t, "äÖ\u212a", Fold("äÖ\u212a"), "the Kelvin sign is not k")
}
