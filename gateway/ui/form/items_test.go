package form

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAListWithoutNames: the first row is data if it contains no known column name.
func TestAListWithoutNames(t *testing.T) {
	f := Of("user.update")
	for list, named := range map[string]bool{
		"Username,City\na,b\n": true, "Bemerkung;Ort\nx;y\n": true, "id,x\n1,2\n": true,
		"Tel. office phone no.\n1\n": true,
		"lweber;Ulm\nx;y\n":          false, "a,b\nc,d\n": false, "Weber, Lea\n": false,
	} {
		assert.Equal(t, named, f.Named(ReadSheet([]byte(list))), "%q", list)
	}
	sheet := ReadSheet([]byte("\nlweber;Ulm;\naschmidt;;\n")).WithoutNames()
	all := f.Columns(sheet)
	require.Len(t, all, 2, "the last separator ends the row")
	assert.Equal(t, []string{"lweber", "aschmidt"}, all[0].Values)
	assert.Empty(t, all[0].Called)
	list := sheet.Changed(func(at Cell) string {
		assert.True(t, at.Text == "" || at.Line == 2 || at.Line == 3, "line %d", at.Line)
		return strings.ReplaceAll(at.Text, "lweber", "x")
	})
	assert.Equal(t, "\n\"x\";Ulm;\naschmidt;;\n", string(list))
}

// TestFormsOfAList: a list with several operations has the fields of all of them, and each row has the fields
// of its operation.
func TestFormsOfAList(t *testing.T) {
	sheet := ReadSheet([]byte("Operation,Username\nuser.unlock,a\n,b\nnosuch,c\ncomputer.enable,d\n"))
	forms := FormsOf("user.update", sheet.Operations())
	assert.Equal(t, Of("user.unlock"), forms.Of(1))
	assert.Equal(t, Of("user.update"), forms.Of(2), "it names none")
	assert.Nil(t, forms.Of(3))
	require.NotNil(t, forms.All.Field("ADComputerName"))
	require.NotNil(t, forms.All.Field("City"))
	assert.False(t, forms.All.Field("Username").Required, "a computer needs none")
	both := FormsOf("", map[int]string{1: "user.unlock", 2: "user.enable"})
	assert.True(t, both.All.Field("Username").Required)
	assert.Equal(t, Of("user.update"), FormsOf("user.update", nil).All)
	assert.Nil(t, FormsOf("", map[int]string{1: "nosuch"}).All)
}

// TestItemsInJSON: texts of parameters are replaced in place. Everything else stays unchanged, including
// mistakes.
func TestItemsInJSON(t *testing.T) {
	change := func(name string, at Cell) string {
		if name == "City" || at.Text == "keep" {
			return at.Text
		}
		return strings.ToUpper(at.Text)
	}
	for list, c := range map[string]struct {
		want  string
		lines bool
	}{
		`{"items": [{"parameters": {"A": "a\n\u00fc", "City": "x"},` + "\n" + `"operation": "user.unlock", "id": "i"}, 7]} x`: {
			`{"items": [{"parameters": {"A": "A\nÜ", "City": "x"},` + "\n" + `"operation": "user.unlock", "id": "i"}, 7]} x`, false,
		},
		`{"parameters":{"A":["a",1,"keep"],"B":{"C":"c"}}}` + "\n]{\n" + `{"parameters":{"A":"a"}}`: {
			`{"parameters":{"A":["A",1,"keep"],"B":{"C":"c"}}}` + "\n]{\n" + `{"parameters":{"A":"A"}}`, true,
		},
		`{"items": [{"parameters": {"A": "a"`:      {`{"items": [{"parameters": {"A": "a"`, false},
		`{"items": {"parameters": {"A": "a"}}, 3}`: {`{"items": {"parameters": {"A": "a"}}, 3}`, false},
		``: {``, true},
	} {
		items := ReadItems([]byte(list), c.lines)
		assert.Equal(t, c.want, string(ChangedItems([]byte(list), items, change)))
	}
	text := []byte("{\"operation\": \"user.unlock\"}\n\n{\"parameters\": {\"A\": \"a\"}}\n")
	items := ReadItems(text, true)
	assert.Equal(t, map[int]string{0: "user.unlock"}, Operations(items))
	ChangedItems(text, items, func(name string, at Cell) string {
		assert.Equal(t, "A", name)
		assert.Equal(t, Cell{Row: 2, Line: 3, Text: "a"}, at)
		return at.Text
	})
}
