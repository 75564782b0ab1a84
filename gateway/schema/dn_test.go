package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPathsAreComparedAsTheDirectoryDoes(t *testing.T) {
	base, ok := ParsePath("OU=Sales,DC=corp,DC=example")
	assert.True(t, ok)
	for text, within := range map[string]bool{
		"OU=Sales,DC=corp,DC=example":                                       true,
		" ou = sales , dc = CORP,DC=example ":                               true,
		"CN=x,2.5.4.11=S\\61les,0.9.2342.19200300.100.1.25=corp,DC=example": true,
		"CN=a\\,b,OU=Sales,DC=corp,DC=example":                              true,
		"CN=Müller+SN=x,OU=SALES,DC=corp,DC=example":                        true,
		"CN=x\\,OU\\=Sales,DC=corp,DC=example":                              false,
		"CN=x\\2cOU\\3dSales,DC=corp,DC=example":                            false,
		"OU=Sales\\ ,DC=corp,DC=example":                                    false,
		"OU=XSales,DC=corp,DC=example":                                      false,
		"OU=Sales,DC=corp,DC=example,DC=com":                                false,
		"DC=corp,DC=example":                                                false,
		"CN=x,CN=Sales,DC=corp,DC=example":                                  false,
	} {
		path, ok := ParsePath(text)
		assert.True(t, ok, text)
		assert.Equal(t, within, path.Within(base), text)
	}
	for _, text := range []string{"", "jdoe", "=x", "OU=", "OU=a,,DC=b", "<GUID=1>", `OU="a",DC=b`} {
		_, ok := ParsePath(text)
		assert.False(t, ok, text)
	}
	_, ok = NamesPath(Identity, "a=b")
	assert.False(t, ok, "an account name")
}

func TestPlainNames(t *testing.T) {
	for name, want := range map[string]string{
		"jdoe": "", "Administrator ": "Administrator", "krb tgt": "krbtgt", "ｋｒｂｔｇｔ": "krbtgt", "krb\u200btgt": "krbtgt", "Müller": "",
	} {
		assert.Equal(t, want, Plain(name), name)
	}
}
