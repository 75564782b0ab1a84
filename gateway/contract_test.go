package gateway_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/cursor"
	"adgateway/gateway/filter"
	"adgateway/gateway/ops"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
	"adgateway/test/thorough"
)

// goodValues are valid values for every row, keyed by parameter name.
var goodValues = map[string]string{
	ops.FilterName: `created gt "-P30D"`, // valid for every class
	"OUGuid":       "9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10", "OUDestinationPath": "DC=corp,DC=example", "IsProtected": "false", "Force": "true",
	"GroupScope":     "Domain_Local",
	"ADComputerName": "PC042", "NewADComputerName": "PC043",
	"Username": "jdoe", "ShowFields": "guid,username", "OUPath": "OU=Sales,DC=corp,DC=example", "Recursive": "false",
	"DNS_HostName": "www", "DNS_HostName_Alias": "web1.corp.example", "ZoneName": "corp.example",
	"DryRun": "false", "NetworkID": "10.0.0.0/8", "NetworkIDOrZoneName": "10.in-addr.arpa", "IgnoreSystemZones": "true", "ListContainers": "true",
	"IP_Address": "10.0.1.30", "IPv6_Address": "2001:db8::30", "DNS_TargetName": "web1.corp.example", "Port": "25", "Type": "A", "Data": "10.0.1.30",
	"ChangePasswordNextLogon": "false", "PasswordNeverExpired": "false", "Country": "GR",
	"Lookup": "Forward", "ZoneType": "Stub", "Aging": "true", "RefreshHours": "24", "NoRefreshHours": "24",
	"ReplicationScope": "Forest", "DynamicUpdate": "None", "ForwarderTimeout": "7", "UseRecursion": "true",
	"ChildName": "branch", "NameServer": "ns1.branch.corp.example", "MasterServers": "10.9.0.53",
	"HomeFolderDrive": "H:", "Initials": "J.", "RdsHomeFolderDrive": "T:", "RdsConnectDrive": "true", "RdsAllowLogon": "false", "UserGuid": "9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10", "ChangePassword": "true",
}

func goodValue(name string) string {
	if value, known := goodValues[name]; known {
		return value
	}
	for _, op := range ops.Table() {
		if p := op.Param(name); p != nil && p.Name == name {
			if p.Kind.Doc().Type == "boolean" {
				return "false"
			}
			return cmp.Or(p.Sample(), "some text")
		}
	}
	return "some text"
}

// hostile are values that attempt to be more than data.
var hostile = map[string]string{
	"single quotes":     "O'Brien ‘x’ ‚y‛",
	"double quotes":     `a"b “c” „d`,
	"semicolon":         "a; Remove-ADUser b",
	"sub-expression":    "$(Stop-Process -Id $PID)",
	"variable":          "$env:USERNAME ${x}",
	"backtick":          "a`nb`$c",
	"star":              "*",
	"stars":             "a*b*",
	"brackets":          "a[b](c){d}<e>",
	"filter":            "*)(objectClass=*",
	"backslash":         `a\b\2a\`,
	"percent":           "100%25%00",
	"pipe":              "a|b&c||d",
	"hash":              "#comment",
	"dash":              "-Identity x –y",
	"at":                "@{a=1}@(b)",
	"slash":             "a/b//c",
	"plus and blank":    "a+b c",
	"leading blank":     "  a  ",
	"only blanks":       "   ",
	"emoji":             "😀 Ω ä \u202e right-to-left",
	"line feed":         "a\nb",
	"carriage return":   "a\rb",
	"tab":               "a\tb",
	"NUL":               "a\x00b",
	"escape":            "a\x1bb",
	"record separator":  "\x1e1 end 2\n{}",
	"C1 control":        "a\u0085b",
	"delete":            "a\x7fb",
	"invalid UTF-8":     "a\xff\xfeb",
	"overlong":          "a\xc0\xafb",
	"surrogate":         "a\xed\xa0\x80b",
	"100 kB":            strings.Repeat("x", 100_000),
	"100 kB of quotes":  strings.Repeat("'", 100_000),
	"looks like a date": "2024-01-01T00:00:00",
	"looks like JSON":   `{"a":[1,2]}`,
	"wrong type":        "12",
	"prefix":            "=!0",
	"replacement":       "a\ufffdb",
}

// target returns the path of a row, with value in place of the placeholder of one parameter.
func target(op *ops.Operation, name, value string) string {
	path := op.Path
	for _, p := range op.Params {
		if p.Path != "" {
			in := goodValue(p.Name)
			if p.Name == name {
				in = value
			}
			path = strings.Replace(path, "{"+p.Path+"}", url.PathEscape(in), 1)
		}
	}
	return path
}

// place is the part of a request that carries the values.
type place string

const (
	inQuery place = "query"
	inForm  place = "form"
	inJSON  place = "JSON"
)

// ask sends a request for a row with its values in one place. In JSON, a value may have any type.
func ask(
	t *testing.T, s *gateway.Server, op *ops.Operation, path string, in place, values map[string]any,
) harness.Reply {
	t.Helper()
	form := url.Values{}
	for name, value := range values {
		form.Set(name, fmt.Sprint(value))
	}
	switch in {
	case inQuery:
		return harness.Read(t, harness.Call(s, op.Method, path+"?"+form.Encode(), ""))
	case inForm:
		return harness.Read(t, harness.Call(s, op.Method, path, form.Encode(),
			"Content-Type: application/x-www-form-urlencoded"))
	default:
		body, err := json.Marshal(values)
		require.NoError(t, err)
		return harness.Read(t, harness.Call(s, op.Method, path, string(body),
			"Content-Type: application/json; charset=UTF-8"))
	}
}

// required returns valid values for a row's required parameters outside the path. If the row requires at
// least one of several parameters, it returns values for two of them, so that either may be omitted.
func required(op *ops.Operation) map[string]any {
	values := map[string]any{}
	for _, p := range op.Params {
		if p.Required && p.Path == "" {
			values[p.Name] = goodValue(p.Name)
		}
	}
	for _, name := range atLeastOne[op.ID] {
		values[name] = goodValue(name)
	}
	if strings.HasPrefix(op.ID, "ptr.") && op.Param("IP_Address") != nil { // any two of these suffice
		values["DNS_HostName"], values["ZoneName"], values["IP_Address"] = "30.1.0.10.in-addr.arpa", "10.in-addr.arpa", "10.0.1.30"
	}
	if strings.HasSuffix(op.ID, ".change") {
		values["TimeToLive"], values["MakeStatic"] = "60", "true"
	}
	return values
}

// goodCursor returns a cursor from the row's answer to a call without parameters.
func goodCursor(t *testing.T, op *ops.Operation) string {
	if op.Local {
		return cursor.Cursor{Last: cursor.GUID{1}}.String()
	}
	first := harness.New(t, harness.Answering(ps.Result{Last: strings.Repeat("01", 16)}, emitted(op)), nil)
	w := harness.Call(first, op.Method, target(op, "", "")+"?"+ops.LimitName+"=10", "")
	var page struct{ Next string }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &page))
	require.NotEmpty(t, page.Next, "%s: %s", op.ID, w.Body)
	return page.Next
}

// atLeastOne maps each row that requires at least one of several parameters to two of them.
var atLeastOne = map[string][]string{
	"computer.deleteMany": {"WildCard", "OUPath"},
}

// ownValue returns the value of a parameter in values, or value if values has none for it.
func ownValue(op *ops.Operation, p *ops.Param, values map[string]any, value string) string {
	if own, has := values[p.Name].(string); has {
		return own
	}
	if op.ID == "bin.list" && p.Name == "Type" { // in other rows Type is a record type
		return p.Example
	}
	return value
}

// onlyField asserts that a refusal names the field and no other.
func onlyField(t *testing.T, got harness.Reply, field string, about ...any) {
	t.Helper()
	require.NotNil(t, got.Error, about...)
	status := got.Error.Code.Status()
	assert.True(t, status >= 400 && status < 500, about...)
	require.Len(t, got.Error.Details, 1, about...)
	assert.Equal(t, field, got.Error.Details[0].Field, about...)
}

// emitted returns the records that the fake runner emits for a row.
func emitted(op *ops.Operation) string {
	if op.Reply.Mark == ops.List {
		return "[]"
	}
	return "[" + harness.Sample(op.Reply.Shape) + "]"
}

// TestHostileValues sends every value to every parameter of every row, in every place. In a plain run it
// sends only a share of the values, most of them in one place. Each value must either be refused with a 4xx
// that names the field, or reach the script unchanged. It must never cause a 500.
func TestHostileValues(t *testing.T) {
	runner := harness.Answering(harness.OK)
	s := harness.New(t, runner, func(o *gateway.Options) { o.Policy.AllowSecretsInQuery = true })
	tries := 0
	defer func() { t.Logf("%d tries", tries) }()
	for _, op := range opstest.Own() {
		runner.Do = harness.Answering(harness.OK, emitted(op)).Do
		for i, p := range op.Params {
			t.Run(op.ID+"/"+p.Name, func(t *testing.T) {
				for name, value := range hostile {
					if !thorough.OneOf(8, op.ID, p.Name, name) {
						continue
					}
					for at, in := range []place{inQuery, inForm, inJSON} {
						if (len(value) > 10_000 || !thorough.OneOf(48, op.ID, p.Name, name)) && at != (i+len(name))%3 {
							continue // most values go to one place each, in turn
						}
						if in == inJSON && name != "replacement" && strings.ContainsRune(string([]rune(value)), '\ufffd') {
							continue // encoding/json would turn it into valid UTF-8
						}
						values, path := required(op), target(op, p.Name, value)
						if p.Path == "" {
							values[p.Name] = value
						}
						before := runner.Count()
						got := ask(t, s, op, path, in, values)
						tries++
						if runner.Count() == before {
							onlyField(t, got, p.Name, name, in)
							continue
						}
						arrived(t, runner.Last(t), &p, value, name)
					}
				}
			})
		}
	}
}

// arrived asserts that the script received the value, unchanged or decoded by its kind.
func arrived(t *testing.T, req ps.Request, p *ops.Param, value, about string) {
	t.Helper()
	if p.Unsent && p.Name == ops.ReasonName {
		return // the parameter only goes to the audit
	}
	name := p.Arg
	if name == "" {
		name = p.Name
	}
	decoded, problem := p.Kind.Decode(value)
	require.Nil(t, problem, "%s %q", p.Name, about)
	if p.Name == ops.ShowFields { // the fields that the entity tag covers are read, too
		require.Subset(t, req.Args[name].Items(), decoded.Values[0].Items(), "%s %q", p.Name, about)
		return
	}
	if p.Item > 0 {
		require.Contains(t, req.Args[name].String(), strconv.Quote(decoded.Text), "%s %q", p.Name, about)
		return
	}
	for i, part := range p.Parts() {
		require.Equal(t, decoded.Values[i], req.Args[name+part.Suffix], "%s %q", p.Name, about)
	}
	if schema.TakesList(p.Kind) {
		return
	}
	switch p.Kind {
	case schema.Wildcard, schema.Zone, schema.Network, schema.NetworkOrZone, schema.Bool, schema.Flag, schema.Country, schema.GUID,
		schema.RecordValues, schema.SearchText(filter.Users), schema.SearchText(filter.Groups),
		schema.SearchText(filter.Computers), schema.AnyText:
		return
	case schema.Password:
		require.Equal(t, ps.Secret(value), req.Args[name])
		if len(value) > 4 { // a shorter one may occur by chance
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", req.Args, req.Args, req.Args), value)
		}
	default:
		if p.Kind.Parts()[0].Type == "string" && p.Kind.Doc().Enum == nil { // otherwise it was compared above
			require.Equal(t, ps.Text(value), req.Args[name], "%s %q", p.Name, about)
		}
	}
}

// someRows returns all rows in a thorough run, otherwise one in three.
func someRows() []*ops.Operation {
	return slices.DeleteFunc(opstest.Own(), func(op *ops.Operation) bool { return !thorough.OneOf(3, op.ID) })
}

func TestMissingAndEmptyParameters(t *testing.T) {
	for _, op := range someRows() {
		runner := harness.Answering(harness.OK, emitted(op))
		s := harness.New(t, runner, nil)
		for _, p := range op.Params {
			if p.Path != "" {
				continue
			}
			for _, in := range []place{inQuery, inForm, inJSON} {
				values := required(op)
				delete(values, p.Name)
				before := runner.Count()
				got := ask(t, s, op, target(op, "", ""), in, values)
				if p.Required {
					onlyField(t, got, p.Name, op.ID, in)
					assert.Equal(t, "is required", got.Error.Details[0].Message)
				} else {
					assert.Equal(t, before+1, runner.Count(), "%s without %s", op.ID, p.Name)
				}
				if p.Kind.Secret() && in == inQuery {
					continue
				}
				values[p.Name] = ""
				before = runner.Count()
				got = ask(t, s, op, target(op, "", ""), in, values)
				clears := op.Effect == ops.Update && p.Kind.Clear() != nil
				refused := p.Kind.Secret() || p.Name == ops.DryRun || p.Name == ops.PlanID ||
					op.ID == "computer.deleteMany" && p.Name != "Recursive" && p.Name != ops.ReasonName
				if p.Required && !p.Clears || refused {
					onlyField(t, got, p.Name, op.ID, in)
				} else {
					require.Equal(t, before+1, runner.Count(), "%s with empty %s", op.ID, p.Name)
					if clears {
						name := p.Arg
						if name == "" {
							name = p.Name
						}
						for i, part := range p.Kind.Parts() {
							assert.Equal(t, p.Kind.Clear()[i], runner.Last(t).Args[name+part.Suffix], "%s: empty %s", op.ID,
								p.Name)
						}
						continue
					}
					for name, value := range runner.Last(t).Args {
						if name == p.Name && p.Default == "" {
							t.Errorf("%s: empty %s arrived as %s", op.ID, name, value)
						}
					}
				}
			}
		}
	}
}

func TestDuplicateUnknownAndMistypedParameters(t *testing.T) {
	for _, op := range someRows() {
		runner := harness.Answering(harness.OK, emitted(op))
		s := harness.New(t, runner, func(o *gateway.Options) { o.Policy.AllowSecretsInQuery = true })
		for _, p := range op.Params {
			value, values := goodValue(p.Name), required(op)
			if p.Name == ops.TypeName && op.Lane == ps.Directory {
				value = "user" // in other rows it is a record type
			}
			if p.Name == ops.AfterName {
				value, values[ops.LimitName] = goodCursor(t, op), "10"
			}
			if p.Name == "DirectoryPartition" {
				values["ReplicationScope"] = "Custom"
			}
			value = ownValue(op, &p, values, value)
			delete(values, p.Name)
			query := url.Values{}
			for name, v := range values {
				query.Set(name, fmt.Sprint(v))
			}
			path := target(op, "", "")
			good := url.QueryEscape(value)
			lower, upper := strings.ToLower(p.Name), strings.ToUpper(p.Name)

			before := runner.Count()
			w := harness.Call(s, op.Method, path+"?"+query.Encode()+"&"+lower+"="+good+"&"+upper+"="+good, "")
			if schema.Repeats(p.Kind) {
				continue // given twice, it is a list of two values
			}
			runs := 1
			switch p.Name {
			case "ShowFields":
			case ops.PlanID: // it must name something that exists
				runs = 0
				assert.Equal(t, http.StatusBadRequest, w.Code, "%s", w.Body)
			default:
				assert.Less(t, w.Code, 300, "%s: %s twice with the same value: %s", op.ID, p.Name, w.Body)
			}
			assert.Equal(t, before+runs, runner.Count(), "%s: %s twice with the same value: %s", op.ID, p.Name, w.Body)

			got := harness.Read(t, harness.Call(s, op.Method,
				path+"?"+query.Encode()+"&"+lower+"="+good+"&"+upper+"="+good+"x", ""))
			onlyField(t, got, p.Name, op.ID)
			assert.Equal(t, "is given twice with different values", got.Error.Details[0].Message)
			assert.Equal(t, before+runs, runner.Count())

			for _, wrong := range []any{[]string{value, "?"}, map[string]any{"a": 1}, 7, nil} {
				if p.Path != "" {
					break
				}
				if _, isList := wrong.([]string); isList && opstest.TakesNames(&p) {
					continue
				}
				if _, isNumber := wrong.(int); isNumber && (p.Kind == schema.Wildcard || p.Kind.Doc().Type == "integer") {
					continue
				}
				values[p.Name] = wrong
				got := ask(t, s, op, path, inJSON, values)
				onlyField(t, got, p.Name, op.ID, wrong)
			}
			if p.Name != ops.PlanID {
				values[p.Name] = value
			}
		}
		for _, in := range []place{inQuery, inForm, inJSON} {
			values := required(op)
			values["\x01onsense'\"<"] = "x"
			before := runner.Count()
			got := ask(t, s, op, target(op, "", ""), in, values)
			shown := "\ufffdonsense'\"<"
			if len(op.Secrets()) > 0 {
				shown = "\ufffdo…" // it may cut a character in two
			}
			onlyField(t, got, shown, op.ID)
			assert.Equal(t, before, runner.Count())
		}
	}
}

func TestAValueOfThePathMayBeRepeatedByName(t *testing.T) {
	runner := harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]")
	s := harness.New(t, runner, nil)
	assert.Equal(t, 200, harness.Call(s, "GET", "/api/ADUser/jdoe/Details?USERNAME=jdoe", "").Code)
	got := harness.Read(t, harness.Call(s, "GET", "/api/ADUser/jdoe/Details?username=other", ""))
	onlyField(t, got, "Username")

	runner = harness.Answering(harness.OK, "["+harness.Sample(schema.ReverseZone)+"]")
	s = harness.New(t, runner, nil)
	assert.Equal(t, 200, harness.Call(s, "GET",
		"/api/DnsReverseLookupZone/10.0.0.0/8?NetworkIDOrZoneName=10.0.0.0%2F8", "").Code)
	assert.Equal(t, 200, harness.Call(s, "GET",
		"/api/DnsReverseLookupZone/10.0.0.0/8?NetworkIDOrZoneName=10.in-addr.arpa", "").Code,
		"another spelling of the same zone")
	got = harness.Read(t, harness.Call(s, "GET",
		"/api/DnsReverseLookupZone/10.0.0.0/8?NetworkIDOrZoneName=11.in-addr.arpa", ""))
	onlyField(t, got, "NetworkIDOrZoneName")
}

func TestEveryScopeIsRequired(t *testing.T) {
	for _, op := range opstest.Own() {
		runner := harness.Answering(harness.OK, emitted(op))
		s := harness.New(t, runner, nil)
		got := harness.Read(t, harness.Call(s, op.Method, target(op, "", ""), "",
			"Auth-Token: Bearer "+harness.OpsToken))
		require.NotNil(t, got.Error)
		assert.Equal(t, schema.Forbidden, got.Error.Code)
		assert.Contains(t, got.Error.Message, "'"+string(op.Scope)+"'")
		for _, header := range []string{"", "Bearer wrong", "Bearer " + harness.AllToken + "x", "Basic eDp5",
			"Digest x", "Bearer"} {
			w := harness.Call(s, op.Method, target(op, "", ""), "{", "Auth-Token: "+header)
			got := harness.Read(t, w)
			require.NotNil(t, got.Error, header)
			assert.Equal(t, schema.Unauthenticated, got.Error.Code, header)
			assert.Equal(t, `Bearer realm="adgateway"`, w.Header().Get("WWW-Authenticate"))
		}
		assert.Zero(t, runner.Count(), op.ID)
	}
}
