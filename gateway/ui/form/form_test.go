package form

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
)

// TestEveryChangingRowHasWords: every operation that makes changes has texts in each language, and they name
// only its own parameters.
func TestEveryChangingRowHasWords(t *testing.T) {
	names := regexp.MustCompile(`\{[A-Za-z_]+\}`)
	all := All()
	assert.Greater(t, len(all), 85)
	for _, f := range all {
		for lang := range f.Label {
			require.NotEmpty(t, f.Label[lang], f.Op.ID)
			require.NotEmpty(t, f.Says[lang], f.Op.ID)
			for _, name := range names.FindAllString(f.Says[lang], -1) {
				assert.NotNil(t, f.Field(strings.Trim(name, "{}")), "%s %s", f.Op.ID, name)
			}
			for _, field := range f.Fields {
				assert.NotEmpty(t, field.Label[lang], "%s %s", f.Op.ID, field.Name)
				assert.Equal(t, field.Help[0] == "", field.Help[lang] == "", "%s %s", f.Op.ID, field.Name)
			}
		}
	}
	for id, words := range operations {
		f := Of(id)
		if f == nil {
			assert.True(t, strings.HasPrefix(id, "record."), id)
			continue
		}
		for _, name := range words.order {
			assert.NotNil(t, f.Field(name), "%s %s", id, name)
		}
	}
}

// TestEachFormTakesTheSampleOfItsRow: a sample that succeeds as a call is accepted as a form.
func TestEachFormTakesTheSampleOfItsRow(t *testing.T) {
	for _, f := range All() {
		if f.Op.Sample == nil {
			continue
		}
		typed := url.Values{}
		for name, value := range f.Op.Sample {
			switch value := value.(type) {
			case string:
				typed.Set(name, value)
			case bool:
				if value {
					typed.Set(name, "true")
				} else if f.Field(name) != nil && f.Field(name).Control == Choose {
					typed.Set(name, "false")
				}
			default:
				typed.Set(name, "")
			}
		}
		if len(typed) != len(f.Op.Sample) || strings.Contains(typed.Encode(), "=&") {
			continue // the sample has lists or numbers
		}
		_, problems := f.Read(typed)
		for _, p := range problems {
			assert.NotContains(t, p.Text[0], "is missing", "%s %s", f.Op.ID, p.Field)
		}
	}
}

func TestWhatIsNotTypedIsNotSent(t *testing.T) {
	f := Of("user.update")
	typed := url.Values{
		"Username": {"lweber"}, "JobTitle": {"Painter"}, "was:JobTitle": {"Clerk"},
		"Office": {"1.01"}, "was:Office": {"1.01"},
		"Company": {""}, "was:Company": {"Corp"}, "Department": {""}, "was:Department": {""},
	}
	given, problems := f.Read(typed)
	require.Empty(t, problems)
	assert.Equal(t, ops.Given{"Username": "lweber", "JobTitle": "Painter", "Company": ""}, given)
}

// TestColumnsOfAList: columns are found by their names in either language, in any case, in any separator and
// in Latin-1. Similar names are suggested. No row or column moves when cells are changed.
func TestColumnsOfAList(t *testing.T) {
	f := Of("user.update")
	for list, want := range map[string][2]string{
		"Person,Phone\r\na,b\r\n":                 {"Username,OfficePhone", "Person,Phone\r\n\"A\",b\r\n"},
		"\ufeffanmeldename;Telefon;BÜRO\na;b;c\n": {"Username,OfficePhone,Office", "anmeldename;Telefon;BÜRO\n\"A\";b;c\n"},
		"sep=;\n\"Logon name\";officephone\na;b":  {"Username,OfficePhone", "sep=;\n\"Logon name\";officephone\n\"A\";b"},
		"Person\tB\xfcro\na\tM\xfcnchen\n":        {"Username,Office", "Person\tBüro\n\"A\"\tMünchen\n"},
		"Person\rA;B\r":                           {"Username", "Person\nA;B\n"},
		"User name,Nonsense,=HYPERLINK()\na,b,\"c\"\n": {
			"Username,,", "User name,Nonsense,=HYPERLINK()\n\"A\",b,\"c\"\n",
		},
		"\n,,\nId,Person,Text,City\n1,a,\"x\ny,\"\"z\"\"\",b\r\n2,\"a\n\",,d": {
			"Id,Username,,City", "\n,,\nId,Person,Text,City\n1,\"A\",\"x\ny,\"\"z\"\"\",b\r\n2,\"A\n\",,d",
		},
		"Person,Person\na,b\n": {"Username,", "Person,Person\n\"A\",b\n"},
		"Person,Tel. office phone no.,City\na,b,=1+1\n": {
			"Username,OfficePhone,City", "Person,Tel. office phone no.,City\n\"A\",b,=1+1\n",
		},
		"\"I;d\";Person\n1;a\n": {"I;d,Username", "\"I;d\";Person\n1;\"A\"\n"},
		"":                      {"", ""},
	} {
		sheet := ReadSheet([]byte(list))
		var names []string
		for _, c := range f.Columns(sheet) {
			if c.Own {
				c.Field = c.Called
			}
			names = append(names, c.Field)
		}
		changed := sheet.Changed(func(at Cell) string {
			if at.Text == "a" {
				return "A"
			}
			return at.Text
		})
		assert.Equal(t, want[0], strings.Join(names, ","), "%q", list)
		assert.Equal(t, want[1], string(changed), "%q", list)
	}
	all := f.Columns(ReadSheet([]byte("Person,Nonsense,Town\n\"a, b\",\"say \"\"x\"\"\",\nc,d,e\nf,g,h\n")))
	require.Len(t, all, 3)
	assert.Equal(t, []string{"a, b", "c"}, all[0].Values)
	assert.Equal(t, []string{`say "x"`, "d"}, all[1].Values)
	assert.True(t, all[0].Sure)
	assert.Empty(t, all[2].Field)
}

// TestSecretsInAListAreNoExamples: a column whose name suggests a secret has no example values in any form.
// Other columns have example values, even if their names contain such a word.
func TestSecretsInAListAreNoExamples(t *testing.T) {
	secrets := []string{
		"Initial Password", "Start-Passwort", "KENNWORT", "pwd", "PIN", "client secret", "Altes Kennwort",
	}
	for _, f := range All() {
		for _, field := range f.Fields {
			if field.Control == Secret {
				secrets = append(secrets, field.Name, field.Label[0], field.Label[1])
			}
		}
	}
	for _, id := range []string{"user.create", "user.update", "user.resetPassword"} {
		f := Of(id)
		require.NotNil(t, f, id)
		for _, called := range secrets {
			all := f.Columns(ReadSheet([]byte("Person;" + called + ";" + called + "\nlweber;Tr0ub4dor;Tr0ub4dor\n")))
			require.Len(t, all, 3)
			assert.Equal(t, []string{"lweber"}, all[0].Values)
			for _, one := range all[1:] {
				assert.True(t, one.Secret, "%s %s", id, called)
				assert.Nil(t, one.Values, "%s %s", id, called)
			}
		}
	}
	others := []string{"PasswordNeverExpired", "The password never expires", "Department", "Pinboard"}
	for _, called := range others {
		all := Of("user.create").Columns(ReadSheet([]byte("Username," + called + "\na,b\n")))
		assert.Equal(t, []string{"b"}, all[1].Values, called)
	}
}
