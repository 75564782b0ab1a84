package ldif

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func parse(t *testing.T, text string) ([]Record, Faults) {
	t.Helper()
	records, err := Parse("f.ldif", []byte(text))
	var faults Faults
	if err != nil {
		require.ErrorAs(t, err, &faults)
	}
	return records, faults
}

const sample = `# ldapsearch's heading
# another line, which
  goes on
version: 1

# extended LDIF
dn: CN=a,DC=corp,DC=example
objectClass: top
objectClass: user
cn: a
description: a long line that is
  folded twice
 , without a blank
# a comment in between
 that goes on
title:  leading blanks are cut
sn:: SsO8cmdlbg==
objectGUID:: MLCYS2bGdESmOqJvTOvHrw==
Member;range=0-1: x
member: y
userCertificate;binary:: AAEC
lastLogon;x-dc2: 17
nTSecurityDescriptor:: AQAE
empty:
blank: 

dn:: Q049w7wsREM9Yw==
changetype: add
cn: ü

# search reference
ref: ldap://other.example/DC=other

search: 2
result: 0 Success

# numResponses: 3
`

func TestParse(t *testing.T) {
	records, faults := parse(t, sample)
	require.Empty(t, faults)
	require.Len(t, records, 2)
	r := records[0]
	assert.Equal(t, "f.ldif", r.File)
	assert.Equal(t, 7, r.Line, "the first line that is not a comment")
	assert.Equal(t, "CN=a,DC=corp,DC=example", r.DN)
	assert.Equal(t, []string{"top", "user"}, r.Get("objectclass"))
	assert.Equal(t, []string{"a long line that is folded twice, without a blank"}, r.Get("description"))
	assert.Equal(t, []string{"leading blanks are cut"}, r.Get("title"))
	assert.Equal(t, []string{"Jürgen"}, r.Get("sn"))
	assert.Len(t, r.Get("objectGUID")[0], 16)
	assert.ElementsMatch(t, []string{"x", "y"}, r.Get("member"), "options and case are ignored")
	assert.Equal(t, []string{"\x00\x01\x02"}, r.Get("userCertificate"))
	assert.Nil(t, r.Get("lastLogon"), "another DC's value")
	assert.Nil(t, r.Get("nTSecurityDescriptor"), "skipped")
	assert.Nil(t, r.Get("empty"))
	assert.Nil(t, r.Get("blank"))
	found := false
	for _, a := range r.Attributes {
		found = found || a.Name == "lastLogon" && a.DC == "dc2" && a.Values[0] == "17"
	}
	assert.True(t, found)
	assert.Equal(t, "CN=ü,DC=c", records[1].DN)
	assert.Equal(t, 27, records[1].Line)
}

// The records do not depend on the encoding and the line endings.
func TestEncodings(t *testing.T) {
	want, _ := parse(t, sample)
	units := utf16.Encode([]rune(sample))
	bytesOf := func(order binary.AppendByteOrder, bom ...byte) []byte {
		for _, u := range units {
			bom = order.AppendUint16(bom, u)
		}
		return bom
	}
	for name, b := range map[string][]byte{
		"UTF-8 with a mark": append([]byte{0xEF, 0xBB, 0xBF}, sample...),
		"CRLF":              []byte(strings.ReplaceAll(sample, "\n", "\r\n")),
		"UTF-16LE":          bytesOf(binary.LittleEndian, 0xFF, 0xFE),
		"UTF-16BE":          bytesOf(binary.BigEndian, 0xFE, 0xFF),
		"no last line end":  []byte(strings.TrimRight(sample, "\n")),
	} {
		got, err := Parse("f.ldif", b)
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
	for name, b := range map[string][]byte{
		"odd length": {0xFF, 0xFE, 'a'}, "half a pair": {0xFF, 0xFE, 0x3D, 0xD8}, "a lone surrogate": {0xFF, 0xFE, 0x3D, 0xD8, 'a', 0},
	} {
		_, err := Parse("f.ldif", b)
		require.Error(t, err, name)
	}
}

// TestFaults: all errors of a file are reported with the first line of their record.
func TestFaults(t *testing.T) {
	text := `dn: CN=good,DC=c
cn: good

cn: without a dn

dn: CN=url,DC=c
no colon
one more

dn: CN=modify,DC=c
changetype: modify
replace: title
title: x
-

dn: CN=delete,DC=c
changetype: delete

dn: CN=moddn,DC=c
changetype: moddn
newrdn: CN=x
deleteoldrdn: 1

dn: CN=base64,DC=c
sn:: !!!

 a continued line

dn: CN=colon,DC=c
no colon here

dn: CN=only,DC=c

dn: CN=name,DC=c
bad name: x

dn:
cn: x

dn: CN=control,DC=c
control: 1.2.3
changetype: add
cn: x

dn: CN=last,DC=c
cn: good too
`
	records, faults := parse(t, text)
	require.Len(t, records, 3)
	assert.Equal(t, "CN=good,DC=c", records[0].DN)
	assert.Equal(t, "CN=control,DC=c", records[1].DN, "controls are ignored")
	assert.Equal(t, "CN=last,DC=c", records[2].DN)
	lines := map[int]string{}
	for _, f := range faults {
		assert.Equal(t, "f.ldif", f.File)
		lines[f.Line] = f.Message
	}
	assert.Len(t, lines, 11)
	for line, part := range map[int]string{4: "dn:", 6: "no colon", 10: "changetype add", 16: "changetype add",
		19: "changetype", 24: "base64", 27: "continuation", 29: "colon", 32: "dn", 34: "attribute name",
		37: "empty"} {
		assert.Contains(t, lines[line], part, line)
	}
	assert.Contains(t, lines[6], "one more", "all faults of a record")
	assert.Contains(t, faults.Error(), "f.ldif:6: ")
	assert.Contains(t, faults.Error(), "(CN=url,DC=c)")
	assert.NoError(t, Faults(nil).Err())
	assert.Error(t, faults.Err())
}

// TestExports: text that export tools write in addition to RFC 2849 is parsed.
func TestExports(t *testing.T) {
	records, faults := parse(t, `dn: <GUID=4b98b030-c66a-4474-a63a-a26f4cebc7af>;<SID=S-1-5-21-1>;CN=extended,DC=c
cn: extended
jpegPhoto:< file:///tmp/photo
member:
member;range=0-1: CN=a
member;range=0-1: CN=b
proxyAddresses;range=0-1: x
proxyAddresses;range=2-*: y

dn: CN=extended,DC=c
changetype: modify
add: member
member: CN=c
member:: Q049ZA==
-

# search reference
ref: ldap://example/CN=Configuration,DC=c

# search result
search: 2
result: 0 Success
control: 1.2.840.113556.1.4.319 false MAUCAQAEAA==
pagedresults: cookie=

# returned 2 records
`)
	require.Empty(t, faults)
	require.Len(t, records, 2)
	r := records[0]
	assert.Equal(t, "CN=extended,DC=c", r.DN)
	assert.Equal(t, []string{"CN=a", "CN=b"}, r.Get("member"))
	assert.Equal(t, []string{"x", "y"}, r.Get("proxyAddresses"))
	assert.Equal(t, []string{
		"the value of jpegPhoto is in another file, file:///tmp/photo, and is left out",
		"the values of member end with number 1: the rest was not exported",
	}, r.Notes)
	for _, a := range r.Attributes {
		if a.Name == "member" {
			assert.Equal(t, []int{5, 6}, a.Lines)
		}
	}
	assert.True(t, records[1].Adds)
	assert.Equal(t, []string{"CN=c", "CN=d"}, records[1].Get("member"))
}

// The last attribute of a record does not become part of the next record.
func TestRecordsDoNotLeak(t *testing.T) {
	records, faults := parse(t, "dn: CN=a\nchangetype: add\ncn: a\n\ndn: CN=b\ncn: b\n\n\n\ndn: CN=c\n"+
		"CHANGETYPE: add\ncn: c\n")
	require.Empty(t, faults)
	require.Len(t, records, 3)
	for _, r := range records {
		assert.Len(t, r.Attributes, 1, r.DN)
	}
}

func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ldif")
	require.NoError(t, os.WriteFile(path, []byte(sample), 0o600))
	records, err := ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, path, records[0].File)
	_, err = ReadFile(path + ".none")
	require.ErrorIs(t, err, os.ErrNotExist)
	records, err = Parse("empty", nil)
	require.NoError(t, err)
	assert.Empty(t, records)
}

// FuzzParse parses any file. Every record has a DN, a line and values.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("dn: CN=a\ncontrol: 1.2.3 true:: x\ncn: a\n"))
	f.Add([]byte("version: 1\ndn: CN=a\nchangetype: add\n"))
	f.Add([]byte("dn:: !\n\n x\n#\n x\n:\n:<\n::\n"))
	f.Add([]byte("\xff\xfed\x00n\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		records, err := Parse("f", b)
		var faults Faults
		if err != nil {
			require.ErrorAs(t, err, &faults)
			require.NotEmpty(t, faults)
		}
		for _, r := range records {
			require.NotEmpty(t, r.DN)
			require.Positive(t, r.Line)
			for _, a := range r.Attributes {
				require.NotEmpty(t, a.Name)
				require.NotEmpty(t, a.Values)
			}
		}
	})
}
