package adcmd

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/directory"
)

func userClass(t testing.TB) *class {
	t.Helper()
	d, err := directory.New("corp.example", "", directory.Options{Seed: 1})
	require.NoError(t, err)
	return newClasses(d.Schema())["ADUser"]
}

func TestFilterLanguage(t *testing.T) {
	cl := userClass(t)
	const not, bit = "(!(", "userAccountControl:1.2.840.113556.1.4.803:="
	for text, want := range map[string]string{
		`Name -eq 'x'`:                               "(name=x)",
		`name -EQ "x"`:                               "(name=x)",
		`Name -ne 'x'`:                               "(!(name=x))",
		`City -like 'K*n'`:                           "(l=K*n)",
		`City -eq 'K*n'`:                             `(l=K\2an)`,
		`City -notlike '*'`:                          "(!(l=*))",
		`Surname -eq 'O''Brien'`:                     "(sn=O'Brien)",
		"Surname -eq \"a`\"b\"":                      `(sn=a"b)`,
		`Name -eq 'a(b)\5cc'`:                        `(name=a\28b\29\5cc)`,
		`Name -eq 'a\c'`:                             `(name=a\5cc)`,
		`Name -eq 'a' -and sn -eq 'b'`:               "(&(name=a)(sn=b))",
		`Name -eq 'a' -or sn -eq 'b' -and l -eq 'c'`: "(|(name=a)(&(sn=b)(l=c)))",
		`-not (Name -eq 'a')`:                        "(!(name=a))",
		`((Name -eq 'a'))`:                           "(name=a)",
		`badPwdCount -ge 3`:                          "(badPwdCount>=3)",
		`badPwdCount -gt 3`:                          "(&(badPwdCount>=3)(!(badPwdCount=3)))",
		`badPwdCount -lt 3`:                          "(&(badPwdCount<=3)(!(badPwdCount=3)))",
		`Enabled -eq $true`:                          not + bit + "2))",
		`Enabled -eq 'false'`:                        "(" + bit + "2)",
		`Enabled -ne $true`:                          "(" + bit + "2)",
		`PasswordNeverExpires -eq $true`:             "(" + bit + "65536)",
		`userAccountControl -band 2`:                 "(" + bit + "2)",
		`memberOf -recursivematch 'CN=a,DC=b'`:       "(memberOf:1.2.840.113556.1.4.1941:=CN=a,DC=b)",
	} {
		p := &filterParser{class: cl, text: text}
		got, err := p.parse()
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestFilterFaults(t *testing.T) {
	cl := userClass(t)
	for text, position := range map[string]int{
		``:                        1,
		`Name`:                    5,
		`Name -eq`:                9,
		`Name -equals 'x'`:        6,
		`Name -eq 'x`:             10,
		`(Name -eq 'x'`:           14,
		`Name -eq 'x')`:           13,
		`Name -eq 'x' sn -eq 'y'`: 14,
		`Name -eq 'x' -and`:       18,
		`Name -eq -eq 'x'`:        10,
		`-and Name -eq 'x'`:       1,
	} {
		p := &filterParser{class: cl, text: text}
		_, err := p.parse()
		var fault *filterError
		require.True(t, errors.As(err, &fault), "%s: %v", text, err)
		assert.Equal(t, position, fault.position, text)
	}
	for text, want := range map[string]error{
		`Name -eq $name`:               errUnsupported, // facts C9
		`Name -eq "a$b"`:               errUnsupported,
		`LockedOut -eq $true`:          errUnsupported, // facts C14
		`whenCreated -gt '2026-01-01'`: errUnsupported,
		`Enabled -like 't*'`:           errUnsupported,
		`Nonsense -eq 'x'`:             errProperty,
	} {
		p := &filterParser{class: cl, text: text}
		_, err := p.parse()
		assert.ErrorIs(t, err, want, text)
	}
}

// Whatever text comes in, what comes out is an LDAP filter or a typed error.
func FuzzFilterLanguage(f *testing.F) {
	cl := userClass(f)
	for _, seed := range []string{
		`*`, `Name -eq 'x'`, `(Name -like "a*" -or -not sn -eq 'O''B') -and Enabled -eq $true`,
		`ObjectGUID -eq '00000000-0000-0000-0000-000000000000'`, "a -eq \x00", `Name -eq '\`, `Name -eq 'ä\c3'`, `((((`, `-not -not`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := &filterParser{class: cl, text: text}
		out, err := p.parse()
		if err != nil {
			var fault *filterError
			if !errors.As(err, &fault) && !errors.Is(err, errUnsupported) && !errors.Is(err, errProperty) {
				t.Fatalf("%q: %v", text, err)
			}
			if fault != nil && (fault.position < 1 || fault.position > len(text)+1) {
				t.Fatalf("%q: position %d", text, fault.position)
			}
			return
		}
		if _, err := directory.CompileFilter(out); err != nil {
			t.Fatalf("%q became %q: %v", text, out, err)
		}
	})
}
