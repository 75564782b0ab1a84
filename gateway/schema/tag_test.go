package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
)

// taggedShapes are the shapes whose records have tags, with the members that their tags cover. A
// change of such a list needs a new version.
var taggedShapes = map[*schema.Shape]string{
	schema.User: "u2: guid username samUsername name userPrincipalName sid distinguishedName firstName initials lastName displayName description emailAddress" +
		" department office company ouPath jobTitle manager streetAddress streetPoBox city state postalCode country officePhone homePhone mobilePhone profilePath" +
		" profileLogonScript homeFolderPath homeFolderDrive homeFolderDirectory userParameters enabled passwordNeverExpired accountExpires created further",
	schema.Group:                "g1: guid name samName sid distinguishedName scope type description email ouPath managedBy created",
	schema.Membership:           "m1: guid direct primary",
	schema.OU:                   "o1: guid name path protected description created container",
	schema.Computer:             "c1: guid sid computerName samName operatingSystem operatingSystemVersion description dnsName path distinguishedName enabled created",
	schema.ReverseZone:          "z1: distinguishedName zoneName zoneType type serial",
	schema.DNSZone:              "y1: distinguishedName zoneName zoneType type lookup replicationScope dynamicUpdate readOnly paused signed autoCreated zoneFile masterServers serial",
	schema.ConditionalForwarder: "f1: zoneName masterServers forwarderTimeout useRecursion replicationScope",

	schema.RecordTypeNamed("CNAME").Shape: "r1: name type data zone timestamp ttl",
	schema.RecordTypeNamed("A").Shape:     "r1: name type data zone timestamp ttl fqdn",
	schema.RecordTypeNamed("SRV").Shape:   "r1: name type data zone timestamp ttl fqdn target priority weight port",
}

// recordOf returns a record of a shape with everything that scripts emit.
func recordOf(s *schema.Shape) map[string]any {
	record := map[string]any{}
	for _, f := range s.Fields {
		switch {
		case f.Extra != nil: // only shown if it is named
		case f.Packed != nil:
			record[f.Packed.Member] = ""
		case f.Type == schema.BoolField:
			record[f.Name] = false
		case f.Type == schema.NumberField:
			record[f.Name] = 1
		case f.Type == schema.GUIDField:
			record[f.Name] = "9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"
		case f.Type == schema.TimeField:
			record[f.Name] = "2026-01-02T03:04:05Z"
		case f.Type == schema.TextListField:
			record[f.Name] = []string{"10.0.0.1", "10.0.0.2"}
		case f.Type == schema.CountryField:
			record[f.Name] = "DE"
		default:
			record[f.Name] = "Müller & \"Söhne\""
		}
	}
	for _, name := range s.Tag.Beside {
		record[name] = "1"
	}
	return record
}

// another returns another value of the same type.
func another(value any) any {
	switch value := value.(type) {
	case bool:
		return !value
	case int:
		return value + 1
	case []string:
		return value[:1]
	}
	switch text := value.(string); {
	case strings.HasSuffix(text, "Z"):
		return "2027-01-02T03:04:05Z"
	case strings.HasSuffix(text, "9f10"):
		return "00000000-6f0e-4d0a-8a37-2b1c5e7d9f10"
	default:
		return text + "x"
	}
}

func tagOf(t *testing.T, s *schema.Shape, record map[string]any) string {
	t.Helper()
	encoded, err := json.Marshal(record) // with escapes
	require.NoError(t, err)
	tag, err := s.TagOf(encoded)
	require.NoError(t, err)
	return tag
}

func TestWhatATagCovers(t *testing.T) {
	for s, covered := range taggedShapes {
		t.Run(s.Name, func(t *testing.T) {
			require.Equal(t, covered, s.Tag.Kind+": "+strings.Join(s.Covered(), " "))
			record := recordOf(s)
			tag := tagOf(t, s, record)
			for name, value := range record {
				record[name] = another(value)
				changed := tagOf(t, s, record) != tag
				record[name] = value
				stays := !slices.Contains(s.Covered(), name) || slices.Contains(s.Tag.Set, name)
				assert.Equal(t, stays, !changed, name)
			}
			for _, name := range s.Tag.Set {
				record[name] = ""
				assert.NotEqual(t, tag, tagOf(t, s, record), name)
			}
		})
	}
}

// TestATagDoesNotDependOnSpelling: neither escapes nor the spelling of missing texts change a tag.
func TestATagDoesNotDependOnSpelling(t *testing.T) {
	record := `{"guid":"9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10","name":%s,"path":"OU=a","protected":true,"description":%s,"created":"","modified":"","container":false}`
	tags := map[string]bool{}
	for _, one := range [][2]string{{`"M\u00fcller"`, `""`}, {`"Müller"`, `null`}, {`"M\u00FCller"`, `null`}} {
		tag, err := schema.OU.TagOf(json.RawMessage(fmt.Sprintf(record, one[0], one[1])))
		require.NoError(t, err)
		tags[tag] = true
	}
	assert.Len(t, tags, 1)
	for _, wrong := range []string{"", "null", "[]", "{}", `{"guid":1}`, strings.Replace(fmt.Sprintf(record, `""`, `""`), `"path"`, `"paths"`, 1)} {
		_, err := schema.OU.TagOf(json.RawMessage(wrong))
		assert.Error(t, err, wrong)
	}
	_, err := schema.ReverseZone.TagOf(json.RawMessage(`{"distinguishedName":"","zoneName":"z","zoneType":"Primary","type":"DS"}`))
	assert.Error(t, err, "without the serial number")
}

func TestWhatIsReadForTagsIsMadeOnce(t *testing.T) {
	for _, shape := range []*schema.Shape{schema.User, schema.Group, schema.Computer, schema.OU} {
		all := shape.All()
		tagged := all.ReadingAll()
		assert.Same(t, tagged, tagged.ReadingAll(), shape.Name)
		assert.Equal(t, all.Shown(), tagged.Shown(), shape.Name)
		assert.Zero(t, testing.AllocsPerRun(100, func() { all.ReadingAll().Read() }), shape.Name)
	}
}
