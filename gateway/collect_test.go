package gateway_test

import (
	"cmp"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway"
	"adgateway/gateway/ops/opstest"
	"adgateway/gateway/schema"
	"adgateway/ps"
	"adgateway/test/harness"
)

const (
	form = "application/x-www-form-urlencoded"
	js   = "application/json"
)

func TestBinding(t *testing.T) {
	for name, c := range map[string]struct {
		query, contentType, body string
		code                     schema.Code // empty if accepted
		want                     string      // arguments if accepted, details otherwise
	}{
		"nothing":             {want: ``},
		"query":               {query: "firstname=a+b%2Bc", want: `FirstName:"a b+c"`},
		"form":                {contentType: form, body: "FirstName=a&LASTNAME=b", want: `FirstName:"a" LastName:"b"`},
		"JSON":                {contentType: js, body: ` {"FirstName":"a\u00e4\ud83d\ude00","passwordneverexpired":true} `, want: `FirstName:"aä😀" PasswordNeverExpired:true`},
		"all three":           {query: "city=x", contentType: js, body: `{"State":"y"}`, want: `City:"x" State:"y"`},
		"semicolon is data":   {query: "City=a;b", want: `City:"a;b"`},
		"equals sign is data": {query: "City=a=b", want: `City:"a=b"`},
		"empty pairs":         {query: "&&City=a&", want: `City:"a"`}, "no value": {query: "City", want: ``},
		"twice alike in two places": {query: "City=a", contentType: js, body: `{"city":"a"}`, want: `City:"a"`},
		"twice, boolean and text":   {query: "PasswordNeverExpired=false", contentType: js, body: `{"PasswordNeverExpired":false}`, want: ``},
		"twice, in another case":    {query: "PasswordNeverExpired=false&PasswordNeverExpired=False", contentType: js, body: `{"PasswordNeverExpired":false}`, want: ``},
		"twice, text and boolean":   {query: "City=true", contentType: js, body: `{"City":true}`, code: schema.InvalidRequest, want: "City is given twice with different values"},
		"twice, text and null":      {query: "City=%3Cnil%3E", contentType: js, body: `{"City":null}`, code: schema.InvalidRequest, want: "City is given twice with different values"},
		"twice, null":               {contentType: js, body: `{"City":null,"city":null}`, code: schema.InvalidRequest, want: "City must be text, not null: leave it out"},
		"twice, text and number":    {query: "City=12", contentType: js, body: `{"City":12}`, code: schema.InvalidRequest, want: "City is given twice with different values"},
		"twice, empty":              {query: "City=&City=", want: ``},
		"twice, different":          {query: "City=a", contentType: js, body: `{"city":"b"}`, code: schema.InvalidRequest, want: "City is given twice with different values"},
		"twice in one object":       {contentType: js, body: `{"city":"a","City":"b"}`, code: schema.InvalidRequest, want: "City is given twice with different values"},
		"twice, of which one empty": {query: "City=&City=b", code: schema.InvalidRequest, want: "City is given twice with different values"},
		"near miss":                 {query: "Cty=a", code: schema.InvalidRequest, want: "Cty is not a parameter of this operation; did you mean City?"},
		"a cmdlet's name":           {query: "Surname=a", code: schema.InvalidRequest, want: "Surname is what the PowerShell cmdlets call LastName: send LastName"},
		"the directory's name":      {query: "telephoneNumber=1", code: schema.InvalidRequest, want: "telephoneNumber is the LDAP name of OfficePhone: send OfficePhone"},
		"a short name of it": {query: "l=a", code: schema.InvalidRequest, want: "l is the " +
			"LDAP name of City: send City"},
		"part of a name":             {query: "Drive=a", code: schema.InvalidRequest, want: "Drive is not a parameter of this operation; did you mean HomeFolderDrive?"},
		"name of the record's field": {query: "postalCode=1", want: `ZipCode:"1"`},
		"no name":                    {query: "=a", code: schema.InvalidRequest, want: " A parameter has no name."},
		"no name in JSON":            {contentType: js, body: `{"":"a"}`, code: schema.InvalidRequest, want: " A parameter has no name."},
		"script's name":              {query: "UserName=jdoe", want: ``},
		"no near one":                {query: "Quxquxquxqux=a", code: schema.InvalidRequest, want: "Quxquxquxqux is not a parameter of this operation, which has Username, Password, Name, UserPrincipalName, FirstName, Initials, LastName, DisplayName, Description, EmailAddress and 57 more; see /docs"},
		"field, two names":           {query: "postalCode=1&ZipCode=2", code: schema.InvalidRequest, want: "postalCode is given twice with different values; here its name is ZipCode"},
		"field that is no input":     {contentType: js, body: `{"enabled":true}`, code: schema.InvalidRequest, want: "enabled is a field of the record that this operation does not set; Enable or Disable does"},
		"list in JSON":               {contentType: js, body: `{"ShowFields":["all"]}`, want: ``},
		"context argument":           {query: "Privileged=true", code: schema.InvalidRequest, want: "Privileged is not a parameter of this operation, which has Username, Password, Name, UserPrincipalName, FirstName, Initials, LastName, DisplayName, Description, EmailAddress and 57 more; see /docs"},
		"secret in query":            {query: "password=geheim", code: schema.InvalidRequest, want: "Password is a secret and not accepted in the query; send it in the body. For a client that cannot, there are the setting http.allowSecretsInQuery and adgateway token set --secrets-in-query"},
		"secret in query and body":   {query: "password=geheim", contentType: js, body: `{"password":"geheim"}`, code: schema.InvalidRequest, want: "Password is a secret and not accepted in the query; send it in the body. For a client that cannot, there are the setting http.allowSecretsInQuery and adgateway token set --secrets-in-query"},
		"two passwords":              {contentType: form, body: "password=geheim&password=geheim2", code: schema.InvalidRequest, want: "Password is given twice with different values"},
		"bad escape in a value":      {query: "City=%zz", code: schema.InvalidRequest, want: "City holds a percent sign that does not start an escape"},
		"bad escape in a name":       {query: "C%ity=a", code: schema.InvalidRequest, want: " A parameter's name holds a percent sign that does not start an escape."},
		"lone high surrogate":        {contentType: js, body: `{"City":"a\ud800"}`, code: schema.InvalidRequest, want: "City must be valid Unicode: it holds half of a surrogate pair"},
		"lone low surrogate":         {contentType: js, body: `{"City":"\uDC00\ud800"}`, code: schema.InvalidRequest, want: "City must be valid Unicode: it holds half of a surrogate pair"},
		"high surrogate and text":    {contentType: js, body: `{"City":"\ud800\u0041"}`, code: schema.InvalidRequest, want: "City must be valid Unicode: it holds half of a surrogate pair"},
		"escaped backslash":          {contentType: js, body: `{"City":"\\ud800"}`, want: `City:"\\ud800"`},
		"replacement character":      {contentType: js, body: `{"City":"\ufffd"}`, want: `City:"�"`},
		"escaped NUL":                {contentType: js, body: `{"City":"\u0000"}`, code: schema.InvalidRequest, want: "City must not contain a NUL character; '\ufffd' was sent"},
		"several problems":           {query: "Cty=1&Initials=1234567", contentType: js, body: `{"PasswordNeverExpired":1,"Country":"x"}`, code: schema.InvalidRequest, want: "Cty is not a parameter of this operation; did you mean City?|Initials must be at most 6 characters long; '1234567' was sent|PasswordNeverExpired must be true or false; 1 was sent|Country must be a country: its ISO 3166-1 code such as GR or GRC, or its name in English such as Greece; 'x' was sent"},
		"not JSON":                   {contentType: js, body: `{"City":"a"`, code: schema.InvalidRequest},
		"JSON array":                 {contentType: js, body: `["City"]`, code: schema.InvalidRequest},
		"JSON text":                  {contentType: js, body: `"City"`, code: schema.InvalidRequest},
		"two JSON values":            {contentType: js, body: `{}{}`, code: schema.InvalidRequest},
		"JSON comment":               {contentType: js, body: `{/**/}`, code: schema.InvalidRequest},
		"byte order mark":            {contentType: js, body: "\ufeff{\"City\":\"a\"}", want: `City:"a"`},
		"two byte order marks":       {contentType: js, body: "\ufeff\ufeff{}", code: schema.InvalidRequest},
		"invalid UTF-8 in JSON":      {contentType: js, body: "{\"City\":\"\xff\"}", code: schema.InvalidRequest},
		"JSON nested without end":    {contentType: js, body: strings.Repeat(`{"City":`, 100_000), code: schema.InvalidRequest},
		"JSON of 11,000 arrays":      {contentType: js, body: `{"City":` + strings.Repeat("[", 11_000) + strings.Repeat("]", 11_000) + "}", code: schema.InvalidRequest},
		"JSON of 9,000 arrays":       {contentType: js, body: `{"City":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}", code: schema.InvalidRequest, want: "City must be text, not an object or array"},
		"empty object":               {contentType: js, body: `{}`, want: ``},
		"charset":                    {contentType: js + `; charset="UTF-8"`, body: `{"City":"a"}`, want: `City:"a"`},
		"no body, odd type":          {contentType: "text/xml", want: ``},
		"charset's other name":       {contentType: js + `; charset=utf8`, body: `{"City":"a"}`, want: `City:"a"`},
		"other charset":              {contentType: js + "; charset=latin1", body: `{}`, code: schema.UnsupportedMediaType},
		"no type":                    {body: "City=a", code: schema.UnsupportedMediaType},
		"multipart":                  {contentType: "multipart/form-data; boundary=x", body: "--x--", code: schema.UnsupportedMediaType},
		"text":                       {contentType: "text/plain", body: "x", code: schema.UnsupportedMediaType},
		"broken type":                {contentType: "application/json;;=", body: "{}", code: schema.UnsupportedMediaType},
		"form in UTF-16":             {contentType: form + "; charset=utf-16", body: "City=a", code: schema.UnsupportedMediaType},
		"just under the limit":       {contentType: form, body: "City=a" + strings.Repeat("&", 1<<20-6), want: `City:"a"`},
		"over the limit":             {contentType: form, body: "City=a" + strings.Repeat("&", 1<<20-5), code: schema.TooLarge},
		"token in the query is none": {query: "City=a&AUTH-TOKEN=x", code: schema.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			runner := harness.Answering(ps.Result{Effect: ps.EffectCreated}, "["+harness.Sample(schema.User)+"]")
			s := harness.New(t, runner, nil)
			got := harness.Read(t, harness.Call(s, "POST", "/api/ADUser/jdoe?"+c.query, c.body, "Content-Type: "+c.contentType))
			if c.code != "" {
				require.NotNil(t, got.Error)
				assert.Equal(t, c.code, got.Error.Code)
				assert.Equal(t, "none", got.Error.Outcome)
				assert.Zero(t, runner.Count())
				var details []string
				for _, d := range got.Error.Details {
					details = append(details, d.Field+" "+d.Message)
				}
				assert.Equal(t, c.want, strings.Join(details, "|"))
				return
			}
			require.Nil(t, got.Error)
			assert.Equal(t, c.want, arguments(runner.Last(t)))
		})
	}
}

// arguments returns the arguments of a create that differ from their defaults.
func arguments(req ps.Request) string {
	skip := map[string]string{"UserName": `"jdoe"`, "ChangePasswordNextLogon": "", "PasswordNeverExpired": "false", "Field": "", "Kept": "", "AllowedOU": "null", "AllowedZone": "null", "Privileged": "true"}
	var shown []string
	for _, name := range slices.Sorted(maps.Keys(req.Args)) {
		value := req.Args[name].String()
		if standard, known := skip[name]; known && (standard == "" || standard == value) {
			continue
		}
		shown = append(shown, name+":"+value)
	}
	return strings.Join(shown, " ")
}

// TestAProblemIsReportedOnce: a parameter that could not be read is not also reported as missing.
func TestAProblemIsReportedOnce(t *testing.T) {
	for name, c := range map[string]struct{ method, target, body, want string }{
		"unknown":          {"PUT", "/api/ADUser/jdoe", `{"Cty":"a"}`, "Cty is not a parameter of this operation; did you mean City?"},
		"half a pair":      {"PUT", "/api/ADUser/jdoe", `{"City":"\ud800"}`, "City must be valid Unicode: it holds half of a surrogate pair"},
		"secret in query":  {"PUT", "/api/ADUser/jdoe?Password=x", "", "Password is a secret and not accepted in the query; send it in the body. For a client that cannot, there are the setting http.allowSecretsInQuery and adgateway token set --secrets-in-query"},
		"bad escape":       {"PUT", "/api/ADUser/jdoe?City=%zz", "", "City holds a percent sign that does not start an escape"},
		"null":             {"PUT", "/api/ADUser/jdoe", `{"City":null}`, `City must be text, not null: leave it out, or clear it with ""`},
		"null, truth":      {"PUT", "/api/ADUser/jdoe", `{"PasswordNeverExpired":null}`, "PasswordNeverExpired must be true or false: leave it out"},
		"null, required":   {"PUT", "/api/OU/Rename", `{"OUPath":"OU=a,DC=b","OUNewName":null}`, "OUNewName must be text, not null"},
		"required":         {"PUT", "/api/OU/Rename?OUPath=%zz", `{"OUNewName":"a"}`, "OUPath holds a percent sign that does not start an escape"},
		"required, twice":  {"GET", "/api/ADUserGuid?UserGuid=a&UserGuid=b", "", "UserGuid is given twice with different values"},
		"rule, and other":  {"PUT", "/api/ADUser/jdoe", `{"Cty":"a","Initials":"1234567"}`, "Cty is not a parameter of this operation; did you mean City?|Initials must be at most 6 characters long; '1234567' was sent"},
		"required, absent": {"PUT", "/api/OU/Rename", `{"OldName":"a"}`, "OldName is not a parameter of this operation, which has OUPath, OUNewName, DryRun, PlanId, Reason, WithETag|OUPath is required|OUNewName is required"},
	} {
		s := harness.New(t, harness.Answering(harness.OK), nil)
		got := harness.Read(t, harness.Call(s, c.method, c.target, c.body, "Content-Type: "+js))
		require.NotNil(t, got.Error, name)
		var details []string
		for _, d := range got.Error.Details {
			details = append(details, d.Field+" "+d.Message)
		}
		assert.Equal(t, c.want, strings.Join(details, "|"), name)
	}
}

// TestInvalidJSONIsReportedByPosition: the answer gives the position of the fault but not the
// character itself, which may be part of a password.
func TestInvalidJSONIsReportedByPosition(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	got := harness.Read(t, harness.Call(s, "POST", "/api/ADUser/jdoe", `{"Password":"a"#}`, "Content-Type: "+js))
	require.NotNil(t, got.Error)
	assert.Equal(t, "The body is not JSON from byte 16 of 17 on: JSON has no comments.", got.Error.Message)
}

func TestCompressedBodiesAreRefused(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), nil)
	got := harness.Read(t, harness.Call(s, "POST", "/api/ADUser/jdoe", "{}", "Content-Type: application/json", "Content-Encoding: gzip"))
	require.NotNil(t, got.Error)
	assert.Equal(t, schema.UnsupportedMediaType, got.Error.Code)
}

func TestAContentTypeGivenTwiceIsRefused(t *testing.T) {
	r := httptest.NewRequest("POST", "/api/ADUser/jdoe", strings.NewReader("{}"))
	r.Header.Set("Auth-Token", "Bearer "+harness.AllToken)
	r.Header["Content-Type"] = []string{js, "text/plain"}
	w := httptest.NewRecorder()
	harness.New(t, harness.Answering(harness.OK), nil).Handler().ServeHTTP(w, r)
	assert.Equal(t, schema.UnsupportedMediaType, harness.Read(t, w).Error.Code)
}

func TestSecretsInTheQueryWhenAllowed(t *testing.T) {
	runner := harness.Answering(harness.OK, "["+harness.Sample(schema.User)+"]")
	s := harness.New(t, runner, func(o *gateway.Options) { o.Policy.AllowSecretsInQuery = true })
	require.Less(t, harness.Call(s, "POST", "/api/ADUser/jdoe?Password=geheim", "").Code, 300)
	assert.Equal(t, ps.Secret("geheim"), runner.Last(t).Args["Password"])
}

func TestProblemsNeverContainASecret(t *testing.T) {
	s := harness.New(t, harness.Answering(harness.OK), func(o *gateway.Options) { o.Policy.AllowSecretsInQuery = true })
	for _, body := range []string{
		`{"Password":"geheim-1\u0000"}`, `{"Password":"geheim-1","password":"geheim-2"}`, `{"Password":["geheim-1"]}`,
		`{"Password":"geheim-1` + strings.Repeat("x", 300) + `"}`, `{"Password":"geheim-1","Country":"?"}`, `{"Passwort":"geheim-1"}`,
	} {
		w := harness.Call(s, "POST", "/api/ADUser/jdoe", body, "Content-Type: application/json")
		assert.Equal(t, 400, w.Code)
		assert.NotContains(t, w.Body.String(), "geheim", body)
	}
}

// FuzzBinding sends a query and a body to the row with the most parameters. The answer must not be
// a 500, and the script must get valid text.
func FuzzBinding(f *testing.F) {
	for _, seed := range [][3]string{
		{"FirstName=a&Password=b", js, `{"City":"a","Country":"GR"}`}, {"%zz=%", form, "a=b&City=%00"}, {"", js, `{"City":"\ud800"}`},
		{"ShowFields=guid,*", "text/plain", "x"}, {"City=a;b", js, `{"City":{"a":[1]},"City":null}`}, {"a\xff=1", js, "{\"\xff\":1}"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	runner := created()
	s := harness.New(f, runner, nil)
	f.Fuzz(func(t *testing.T, query, contentType, body string) {
		r := httptest.NewRequest("POST", "/api/ADUser/jdoe", strings.NewReader(body))
		r.URL.RawQuery = query
		r.Header["Content-Type"] = []string{contentType}
		before := runner.Count()
		w := harness.Serve(s, r)
		require.True(t, utf8.Valid(w.Body.Bytes()))
		if runner.Count() == before {
			require.True(t, w.Code >= 400 && w.Code < 500, "%d: %s", w.Code, w.Body)
			return
		}
		require.Equal(t, http.StatusCreated, w.Code, w.Body)
		for name, value := range runner.Last(t).Args {
			require.True(t, utf8.ValidString(value.String()), name)
			require.NotContains(t, value.String(), `\x00`)
		}
	})
}

// created returns a runner that reports every object as created.
func created() *harness.Runner {
	return harness.Answering(ps.Result{Effect: ps.EffectCreated}, "["+harness.Sample(schema.User)+"]")
}

// FuzzPairs compares the result with net/url for input that net/url accepts.
func FuzzPairs(f *testing.F) {
	for _, seed := range []string{"City=a&State=b", "City=%41+b", "City=a;b", "City=%", "=", "City==&&"} {
		f.Add(seed)
	}
	op := opstest.Find("user.create")
	runner := created()
	s := harness.New(f, runner, nil)
	f.Fuzz(func(t *testing.T, raw string) {
		want, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		before := runner.Count()
		harness.Call(s, "POST", "/api/ADUser/jdoe", raw, "Content-Type: "+form)
		if runner.Count() == before {
			return // it is refused
		}
		args := runner.Last(t).Args
		for _, name := range []string{"City", "State", "Department"} {
			got := args[cmp.Or(op.Param(name).Arg, name)]
			switch values := want[name]; {
			case len(values) == 1 && values[0] == "":
				require.Equal(t, ps.Value{}, got, "a new user gets no empty %s", name)
			case len(values) == 1:
				require.Equal(t, ps.Text(values[0]), got, name)
			}
		}
	})
}
