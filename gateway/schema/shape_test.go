package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
)

var testShape = &Shape{Name: "Test", Fields: []Field{
	{Name: "id", Type: GUIDField},
	{Name: "name"},
	{Name: "note", Null: true},
	{Name: "on", Type: BoolField},
	{Name: "at", Type: TimeField, Null: true},
	{Name: "land", Type: CountryField, Null: true},
	{Name: "list", Type: TextListField},
}}

const testGUID = "9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"

func render(sel *Selection, batch string, classic bool) (string, error) {
	rendered, _, err := sel.Render(nil, json.RawMessage(batch), Style{Classic: classic})
	return string(rendered), err
}

func TestRenderWritesTheDeclaredOrder(t *testing.T) {
	inOrder := `{"id":"` + testGUID + `","name":"a","note":null,"on":true,"at":null,"land":"GR","list":["x"]}`
	for name, c := range map[string]struct {
		batch, want string
		classic     bool
	}{
		"none":     {batch: " [ ] ", want: ""},
		"in order": {batch: "[" + inOrder + "]", want: inOrder},
		"several":  {batch: "[" + inOrder + " ,\n" + inOrder + "]", want: inOrder + "," + inOrder},
		"another order, blanks": {
			batch: ` [ { "list" : [ "x" ] , "land":"GR","at":null,"on" : true ,"note":null,"name":"a","id":"` + testGUID + `" } ] `,
			want:  `{"id":"` + testGUID + `","name":"a","note":null,"on":true,"at":null,"land":"GR","list":[ "x" ]}`,
		},
		"empty text is null where that is allowed": {
			batch: `[{"id":"` + testGUID + `","name":"","note":"","on":false,"at":"","land":"","list":[]}]`,
			want:  `{"id":"` + testGUID + `","name":"","note":null,"on":false,"at":null,"land":null,"list":[]}`,
		},
		"escapes and brackets in text": {
			batch: `[{"id":"` + testGUID + `","na\u006de":"\"}],\\","note":"Ω]}","on":false,"at":"2026-01-02T03:04:05Z","land":"XX","list":["]","}"]}]`,
			want:  `{"id":"` + testGUID + `","name":"\"}],\\","note":"Ω]}","on":false,"at":"2026-01-02T03:04:05Z","land":"XX","list":["]","}"]}`,
		},
		"classic names the country": {classic: true, batch: "[" + inOrder + "]", want: strings.Replace(inOrder, `"GR"`, `"Greece"`, 1)},
		"classic keeps a code it does not know": {
			classic: true,
			batch:   "[" + strings.Replace(inOrder, `"GR"`, `"XX"`, 1) + "]", want: strings.Replace(inOrder, `"GR"`, `"XX"`, 1),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := render(testShape.All(), c.batch, c.classic)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestRenderRejectsRecordsOfAnotherShape(t *testing.T) {
	good := map[string]string{"id": `"` + testGUID + `"`, "name": `"a"`, "note": "null", "on": "true",
		"at": "null", "land": "null", "list": "[]"}
	record := func(change map[string]string) string {
		var members []string
		for _, field := range testShape.Fields {
			value := good[field.Name]
			if changed, is := change[field.Name]; is {
				value = changed
			}
			if value != "" {
				members = append(members, fmt.Sprintf("%q:%s", field.Name, value))
			}
		}
		if extra := change["+"]; extra != "" {
			members = append(members, extra)
		}
		return "[{" + strings.Join(members, ",") + "}]"
	}
	_, err := render(testShape.All(), record(nil), false)
	require.NoError(t, err)
	for name, c := range map[string]struct{ batch, want string }{
		"not JSON":        {`[{]`, "the records are not a JSON array in UTF-8"},
		"not UTF-8":       {"[{\"name\":\"\xff\"}]", "the records are not a JSON array in UTF-8"},
		"empty":           {"", "the records are not a JSON array in UTF-8"},
		"not an array":    {`{"id":1}`, "the records are not a JSON array in UTF-8"},
		"not an object":   {`["x"]`, "record of the wrong shape: Test record is not an object"},
		"unknown field":   {record(map[string]string{"+": `"secret":"hidden"`}), "record of the wrong shape: Test has no field with the name emitted after 7 fields"},
		"twice":           {record(map[string]string{"+": `"on":true`}), "record of the wrong shape: Test has on twice"},
		"lacking":         {record(map[string]string{"note": ""}), "record of the wrong shape: Test lacks note"},
		"null":            {record(map[string]string{"name": "null"}), "record of the wrong shape: name is not text in Test"},
		"number":          {record(map[string]string{"name": "7"}), "record of the wrong shape: name is not text in Test"},
		"wrapped text":    {record(map[string]string{"name": `{"value":"a"}`}), "record of the wrong shape: name is not text in Test"},
		"text as boolean": {record(map[string]string{"on": `"true"`}), "record of the wrong shape: on is not a boolean in Test"},
		"no GUID":         {record(map[string]string{"id": `"x"`}), "record of the wrong shape: id is not a GUID in Test"},
		"old date":        {record(map[string]string{"at": `"\/Date(1701379505092)\/"`}), "record of the wrong shape: at is not a time in UTC in Test"},
		"local time":      {record(map[string]string{"at": `"2026-01-02T03:04:05+01:00"`}), "record of the wrong shape: at is not a time in UTC in Test"},
		"list of numbers": {record(map[string]string{"list": `[1]`}), "record of the wrong shape: list is not a list of text in Test"},
		"list of null":    {record(map[string]string{"list": `[null]`}), "record of the wrong shape: list is not a list of text in Test"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := render(testShape.All(), c.batch, false)
			require.EqualError(t, err, c.want)
		})
	}
}

var nestedShape = &Shape{Name: "Nested", Fields: []Field{
	{Name: "kind", Words: &Words{From: "way", Word: map[string]string{"In": "Inwards", "Out": "Outwards"}}},
	{Name: "form", Words: &Words{From: "form", Word: map[string]string{"Stub": "Stub Form"}}},
	{Name: "way"},
	{Name: "count", Type: NumberField},
	{Name: "one", Type: ObjectField, Of: []Field{{Name: "n", Type: NumberField}}},
	{Name: "many", Type: ObjectListField, Of: []Field{{Name: "name"}, {Name: "n", Type: NumberField}}},
}}

func TestRenderNestedObjectsAndClassicWords(t *testing.T) {
	const record = `{"kind":"DS","form":"Stub","way":"In","count":7,"one":{"n":1},"many":[{"name":"a","n":2}]}`
	for _, c := range []struct {
		change, to string // value in the record
		classic    bool
		want       string // the record, or the error
	}{
		{want: record},
		{classic: true, want: strings.NewReplacer(`"DS"`, `"Inwards"`, `"Stub"`, `"Stub Form"`).Replace(record)},
		{change: `"Stub"`, to: `"Whole"`, classic: true, want: strings.NewReplacer(`"DS"`, `"Inwards"`, `"Stub"`, `"Whole"`).Replace(record)},
		{change: `[{"name":"a","n":2}]`, to: `[]`, want: strings.Replace(record, `[{"name":"a","n":2}]`, `[]`, 1)},
		{change: `7`, to: `7.5`, want: "record of the wrong shape: count is not a whole number in Nested"},
		{change: `{"n":1}`, to: `{}`, want: "record of the wrong shape: one is not an object in Nested"},
		{change: `{"n":1}`, to: `{"n":1,"m":2}`, want: "record of the wrong shape: one is not an object in Nested"},
		{change: `{"n":1}`, to: `{"n":"1"}`, want: "record of the wrong shape: one is not an object in Nested"},
		{change: `[{"name":"a","n":2}]`, to: `{"name":"a","n":2}`, want: "record of the wrong shape: many is not a list of objects in Nested"},
		{change: `"name":"a"`, to: `"name":null`, want: "record of the wrong shape: many is not a list of objects in Nested"},
	} {
		got, err := render(nestedShape.All(), "["+strings.Replace(record, c.change, c.to, 1)+"]", c.classic)
		if err != nil {
			got = err.Error()
		}
		assert.Equal(t, c.want, got)
	}
}

func TestMember(t *testing.T) {
	record := []byte(`{"exists":true,"guid":null,"text":"a\"}"}`)
	assert.Equal(t, "true", string(Member(record, "exists")))
	assert.Equal(t, "null", string(Member(record, "guid")))
	assert.Equal(t, `"a\"}"`, string(Member(record, "text")))
	assert.Nil(t, Member(record, "other"))
	assert.Nil(t, Member(nil, "exists"))
}

func TestShapesHaveTheContractsFields(t *testing.T) {
	for shape, want := range map[*Shape]string{
		User:                           "guid username samUsername name userPrincipalName sid distinguishedName firstName initials lastName displayName description emailAddress department office company ouPath jobTitle manager streetAddress streetPoBox city state postalCode country officePhone homePhone mobilePhone profilePath profileLogonScript homeFolderPath homeFolderDrive homeFolderDirectory rdsProfilePath rdsHomeFolderPath rdsHomeFolderDrive rdsConnectDrive rdsAllowLogon enabled lockedOut changePasswordNextLogon passwordNeverExpired passwordLastSet accountExpires created modified",
		Group:                          "guid name samName sid distinguishedName scope type description email ouPath managedBy created modified",
		Membership:                     "guid name samName sid distinguishedName scope type description email ouPath managedBy created modified memberName memberType memberDistinguishedName direct primary",
		OU:                             "guid name path protected description created modified container",
		Computer:                       "guid sid computerName samName operatingSystem operatingSystemVersion description dnsName path distinguishedName enabled lastLogon passwordLastSet created modified",
		RecordTypeNamed("CNAME").Shape: "name type data zone timestamp",
		RecordTypeNamed("A").Shape:     "name type data zone timestamp ttl fqdn",
		RecordTypeNamed("SRV").Shape:   "name type data zone timestamp ttl fqdn target priority weight port",
		RecordTypeNamed("MX").Shape:    "name type data zone timestamp ttl fqdn target preference",
		Record:                         "name type data zone timestamp ttl fqdn target priority weight port preference",
		RecordSet:                      "name type zone fqdn ttl data",
		ReverseZone:                    "distinguishedName zoneName zoneType type",
		Existence:                      "exists guid distinguishedName",
		LastLogon:                      "username lastLogon source complete unreached",
		DNSZone:                        "distinguishedName zoneName zoneType type lookup replicationScope directoryPartition dynamicUpdate readOnly paused signed autoCreated zoneFile masterServers",
		ZoneAging:                      "zoneName enabled refreshHours noRefreshHours scavengeServers availableAt serverScavengingHours",
		ZoneStatistics:                 "zoneName since queries updates transfers",
		ConditionalForwarder:           "zoneName masterServers forwarderTimeout useRecursion replicationScope directoryPartition",
		Delegation:                     "zoneName childName nameServer ipAddresses",
	} {
		assert.Equal(t, want, strings.Join(shape.All().Read().Items(), " "), shape.Name)
	}
}

// FuzzRender compares Render with encoding/json: either the records have the values of the input, or the
// error says whether the input is JSON in UTF-8.
func FuzzRender(f *testing.F) {
	for _, seed := range append([]string{
		`[{"exists":true,"guid":null,"distinguishedName":"CN=\"]}"}]`, `[]`, `[{}]`, `[{"exists":[{"a":"]"}]}]`, `[1,{"a":{}}]`,
		`[{"exists":false,"guid":"","distinguishedName":""},{"distinguishedName":"x","guid":null,"exists":true}]`, ` [ { } ] `, `{"a":1}`, `"\\"`,
	}, notJSON...) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, batch []byte) {
		sound := json.Valid(batch) && utf8.Valid(batch)
		requireChecked(t, batch, sound)
		for i := 0; i < 2; i++ { // twice, because the first pass must not modify the input
			rendered, n, err := Existence.All().Render([]byte("before"), batch, Style{})
			if err != nil {
				require.Equal(t, sound && batch[blanks(batch)] == '[', !errors.Is(err, ps.ErrInvalidRecords))
				return
			}
			require.True(t, sound)
			var want, got []map[string]any
			require.NoError(t, json.Unmarshal(batch, &want))
			text, _ := strings.CutPrefix(string(rendered), "before")
			require.NoError(t, json.Unmarshal([]byte("["+text+"]"), &got))
			require.Len(t, got, len(want))
			require.Len(t, got, n)
			for i := range want {
				require.Len(t, got[i], 3)
				for name, value := range want[i] {
					if value == "" {
						value = nil
					}
					require.Equal(t, value, got[i][name])
				}
			}
		}
	})
}

func blanks(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t\r\n")) }

func TestGUIDs(t *testing.T) {
	for _, text := range []string{
		"", testGUID, strings.ToUpper(testGUID), "{" + testGUID + "}", "{" + testGUID, testGUID + "}", "(" + testGUID + ")", testGUID + " ", testGUID[1:], strings.ReplaceAll(testGUID, "-", ""),
		strings.ReplaceAll(testGUID, "-", "0"), strings.Replace(testGUID, "9", "g", 1), strings.Replace(testGUID, "9", "-", 1), "urn:uuid:" + testGUID, strings.Replace(testGUID, "9", "٩", 1),
	} {
		assert.Equal(t, regexp.MustCompile(guidPattern).MatchString(text), isGUID([]byte(text)), text)
	}
}

// BenchmarkRender shows that the time per record does not grow with the batch.
func BenchmarkRender(b *testing.B) {
	var members []string
	for _, field := range User.Fields {
		if field.Packed != nil || field.Extra != nil {
			continue
		}
		members = append(members, fmt.Sprintf("%q:%s", field.Name, map[FieldType]string{
			TextField: `"some text of usual length"`, BoolField: "true", GUIDField: `"` + testGUID + `"`, TimeField: `"2026-01-02T03:04:05Z"`, CountryField: `"GR"`,
		}[field.Type]))
	}
	record := "{" + strings.Join(members, ",") + `,"userParameters":""}`
	var rendered []byte
	for _, n := range []int{1, 500, 10000} {
		batch := json.RawMessage("[" + strings.TrimSuffix(strings.Repeat(record+",", n), ",") + "]")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(batch)))
			for b.Loop() {
				var err error
				if rendered, _, err = User.All().Render(rendered[:0], batch, Style{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
		})
	}
}
