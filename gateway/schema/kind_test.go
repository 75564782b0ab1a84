package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps"
)

// show returns the arguments of a decoded value, or the problem.
func show(t *testing.T, k Kind, raw any) string {
	t.Helper()
	decoded, problem := k.Decode(raw)
	if problem != nil {
		require.Nil(t, decoded)
		return string(problem.Code) + ": " + problem.Message
	}
	require.Len(t, decoded.Values, len(k.Parts()))
	var shown []string
	for i, value := range decoded.Values {
		require.Equal(t, k.Parts()[i].Type, value.Type())
		shown = append(shown, value.String())
	}
	return strings.Join(shown, " ")
}

func TestKinds(t *testing.T) {
	const (
		notGUID    = "invalid_request: must be a GUID such as 9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"
		notBool    = "invalid_request: must be true or false"
		notDN      = "invalid_request: must be a distinguished name such as OU=Sales,DC=corp,DC=example"
		notUser    = `invalid_request: must be a user name without any of " / \ [ ] : ; | = , + * ? < >, not blank, and without a trailing dot`
		notDrive   = "invalid_request: must be a drive letter with a colon, such as H:"
		notUNC     = `invalid_request: must be a UNC path such as \\server\share\folder`
		hasServer  = "invalid_request: must not name a server: write LDAP://OU=Sales,DC=corp,DC=example, or the name alone"
		notCountry = "invalid_request: must be a country: its ISO 3166-1 code such as GR or GRC, or its name in English such as Greece"
		notListed  = "invalid_request: must be a DNS record name: labels with dots between them, as lists show it"
		notZone    = "invalid_request: must be a DNS zone name of letters, digits, hyphens, underscores and slashes (other letters as punycode)"
		notNew     = "unprocessable: must be a DNS record name of letters, digits, hyphens, underscores and slashes (other letters as punycode)"
		notTarget  = "unprocessable: must be a DNS host name of letters, digits, hyphens, underscores and slashes (other letters as punycode)"
		notCIDR    = "invalid_request: must be a network in CIDR form such as 10.0.0.0/8 or 2001:db8::/32"
		notReverse = "invalid_request: must be a network in CIDR form such as 10.0.0.0/8, or a reverse zone such as 10.in-addr.arpa"
		v4Bits     = "unprocessable: must have the prefix /8, /16 or /24: a reverse zone for IPv4 ends at a whole octet"
		v6Bits     = "unprocessable: must have a prefix from /16 to /128 that is a multiple of 4: a reverse zone for IPv6 ends at a whole nibble"
		control    = "invalid_request: must not contain control characters"
		nul        = "invalid_request: must not contain a NUL character"
		notForward = "invalid_request: must be a forward lookup zone: names under arpa are reverse lookup zones"
		notChild   = "invalid_request: must be a DNS name of letters, digits, hyphens, underscores and slashes (other letters as punycode)"
		notScope   = "invalid_request: must be Domain, Forest or File"
		notNumber  = "invalid_request: must be a whole number from 0 to 15"
		notAddress = "invalid_request: must be addresses such as 10.0.0.53 or 2001:db8::53"
		notHost    = "unprocessable: must be addresses of other hosts: not an unspecified, loopback, multicast or broadcast address"
	)
	addresses, shown := "", ""
	for i := range 20 {
		addresses += fmt.Sprintf("10.0.1.%d,", 10+i)
		shown += fmt.Sprintf(" %q", fmt.Sprintf("10.0.1.%d", 10+i))
	}
	shown = shown[1:]
	label64 := strings.Repeat("a", 64)
	for _, c := range []struct {
		kind Kind
		raw  any
		want string
	}{
		{Bool, "true", "true"}, {Bool, "TRUE", "true"}, {Bool, "False", "false"}, {Bool, true, "true"}, {Bool, false, "false"},
		{Bool, "1", notBool}, {Bool, "yes", notBool}, {Bool, " true", notBool}, {Bool, json.Number("1"), notBool}, {Bool, nil, notBool}, {Bool, Composite{}, notBool},

		{GUID, "9F3C1A52-6F0E-4D0A-8A37-2B1C5E7D9F10", `"9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"`},
		{GUID, "{9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10}", `"9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10"`},
		{GUID, "{9f3c1a52-6f0e-4d0a-8a37-2b1c5e7d9f10", notGUID}, {GUID, "9f3c1a526f0e4d0a8a372b1c5e7d9f10", notGUID}, {GUID, "x", notGUID},

		{Text("givenName"), `O'Brien "; $(x) ` + "`*[]\\", "\"O'Brien \\\"; $(x) `*[]\\\\\""},
		{Text("givenName"), "  kept  ", `"  kept  "`},
		{Text("givenName"), true, "invalid_request: must be text, not a boolean"},
		{Text("givenName"), json.Number("7"), "invalid_request: must be text, not a number"},
		{Text("givenName"), nil, "invalid_request: must be text, not null"},
		{Text("givenName"), Composite{}, "invalid_request: must be text, not an object or array"},
		{Text("givenName"), strings.Repeat("ä", 64), `"` + strings.Repeat("ä", 64) + `"`},
		{Text("givenName"), strings.Repeat("a", 65), "invalid_request: must be at most 64 characters long"},
		{Text("givenName"), strings.Repeat("😀", 33), "invalid_request: must be at most 64 characters long"},
		{Text("givenName"), "a\x00b", nul}, {Text("givenName"), "a\nb", control}, {Text("givenName"), "a\u0085b", control}, {Text("givenName"), "a\x7fb", control},
		{Text("givenName"), "a\xffb", "invalid_request: must be valid UTF-8"},
		{Text("description"), "a\tb\r\nc", `"a\tb\r\nc"`}, {Text("streetAddress"), "a\nb", `"a\nb"`}, {Text("description"), "a\x01b", control},
		{Text("initials"), "abcdefg", "invalid_request: must be at most 6 characters long"},

		{Password, `p$(x)"'`, "***"}, {Password, "a\nb", control}, {Password, strings.Repeat("a", 257), "invalid_request: must be at most 256 characters long"},

		{UserName, "jdoe", `"jdoe"`}, {UserName, "j.o'doe-1 x", `"j.o'doe-1 x"`}, {UserName, "μαρία", `"μαρία"`}, {UserName, "$(x)`;"[:5], "\"$(x)`\""},
		{UserName, "j;doe", notUser}, {UserName, "j*", notUser}, {UserName, `j\doe`, `invalid_request: must be the account name alone, "doe", without the domain before it`}, {UserName, "j@doe", `unprocessable: must be the account name alone, "j", without "@" and a domain: the domain is added for the UPN`}, {UserName, "jdoe.", notUser}, {UserName, "..", notUser}, {UserName, "  ", notUser},
		{UserName, strings.Repeat("a", 21), "invalid_request: must be at most 20 characters long"},

		{Identity, `CN=a\,b,DC=x*()`, `"CN=a\\,b,DC=x*()"`}, {Identity, strings.Repeat("a", 3000), "invalid_request: must be at most 2048 characters long"},

		{DN, "OU=Sales,DC=corp,DC=example", `"OU=Sales,DC=corp,DC=example"`},
		{DN, `OU=a\,b\+c\"\\\<\>\;\#\=,DC=x`, `"OU=a\\,b\\+c\\\"\\\\\\<\\>\\;\\#\\=,DC=x"`},
		{DN, `OU=\20lead, DC=x`, `"OU=\\20lead, DC=x"`}, {DN, `OU=O'Brien $(x) * =y,DC=x`, `"OU=O'Brien $(x) * =y,DC=x"`},
		{DN, "CN=a+SN=b,DC=x", `"CN=a+SN=b,DC=x"`}, {DN, "1.2.3=x,DC=y", `"1.2.3=x,DC=y"`}, {DN, `OU=\C3\A4,DC=x`, `"OU=\\C3\\A4,DC=x"`},
		{DN, "OU=a=,DC=x", `"OU=a=,DC=x"`}, {DN, `OU=\ ,DC=x`, `"OU=\\ ,DC=x"`},
		{DN, "LDAP://OU=a,DC=b", `"OU=a,DC=b"`}, {DN, "ldap://DC=b", `"DC=b"`}, {DN, "LDAP://dc1.corp.example/OU=a,DC=b", hasServer}, {DN, "LDAP:///OU=a,DC=b", hasServer}, {DN, "LDAP://dc1", notDN}, {DN, "LDAP://", notDN}, {DN, "LDAPS://OU=a,DC=b", notDN}, {DN, "LDAP://LDAP://OU=a", hasServer},
		{DN, "x", notDN}, {DN, "OU=", notDN}, {DN, "OU=a,", notDN}, {DN, ",OU=a", notDN}, {DN, "OU=a,,DC=b", notDN}, {DN, "OU=a;DC=b", notDN},
		{DN, `OU=a\`, notDN}, {DN, `OU=a\x,DC=b`, notDN}, {DN, `OU="a",DC=b`, notDN}, {DN, "OU=#a,DC=b", notDN}, {DN, `OU=\00,DC=x`, notDN}, {DN, `OU=\FF,DC=x`, notDN},
		{DN, "OU= ,DC=x", notDN}, {DN, "OU=a,DC= ", notDN}, {DN, "=a,DC=x", notDN}, {DN, "1a=b", notDN},

		{Drive, "H:", `"H:"`}, {Drive, "h:", `"h:"`}, {Drive, "H", notDrive}, {Drive, "1:", notDrive}, {Drive, "HH", notDrive},

		{Country, "GR", `"GR" "Greece" 300`}, {Country, "gr", `"GR" "Greece" 300`}, {Country, "greece", `"GR" "Greece" 300`}, {Country, "Germany", `"DE" "Germany" 276`},
		{Country, "United States of America (the)", `"US" "United States" 840`}, {Country, "Türkiye", `"TR" "Türkiye" 792`}, {Country, "Turkey", `"TR" "Türkiye" 792`},
		{Country, "Côte d’Ivoire", `"CI" "Côte d'Ivoire" 384`}, {Country, "Viet Nam", `"VN" "Vietnam" 704`},
		{Country, "GRC", `"GR" "Greece" 300`}, {Country, "U.S.A.", `"US" "United States" 840`}, {Country, "uk", `"GB" "United Kingdom" 826`}, {Country, "the Netherlands", `"NL" "Netherlands" 528`},
		{Country, "Czech Republic", `"CZ" "Czechia" 203`}, {Country, "UAE", `"AE" "United Arab Emirates" 784`}, {Country, "Turkiye", `"TR" "Türkiye" 792`}, {Country, "Federal Republic of Germany", `"DE" "Germany" 276`},
		{Country, "St. Lucia", `"LC" "Saint Lucia" 662`}, {Country, "Trinidad & Tobago", `"TT" "Trinidad and Tobago" 780`}, {Country, "Burma", `"MM" "Myanmar" 104`}, {Country, "Vatican", `"VA" "Holy See" 336`}, {Country, "Macau", `"MO" "Macao" 446`},
		{Country, "Korea", notCountry}, {Country, "England", notCountry}, {Country, "AN", notCountry}, {Country, "276", notCountry}, {Country, "XX", notCountry}, {Country, "XK", notCountry}, {Country, "Scotland", notCountry}, {Country, "Deutschland", notCountry}, {Country, " GR", notCountry}, {Country, "", notCountry},

		{Zone, "corp.example", `"corp.example"`}, {Zone, "corp.example.", `"corp.example"`}, {Zone, "_msdcs.Corp.Example", `"_msdcs.Corp.Example"`}, {Zone, "64-26.100.168.192.in-addr.arpa", `"64-26.100.168.192.in-addr.arpa"`},
		{Zone, ".", notZone}, {Zone, "..cache", notZone}, {Zone, "a..b", notZone}, {Zone, "*.b", notZone}, {Zone, "a b", notZone}, {Zone, "bücher.example", `"bücher.example"`}, {NewZone, "bücher.example", notZone}, {Zone, "a'b", notZone}, {Zone, "a..", notZone},
		{Zone, label64 + ".x", "invalid_request: must not have a label of more than 63 characters"},
		{Zone, strings.Repeat("a.", 127), `"` + strings.Repeat("a.", 126) + `a"`}, {Zone, strings.Repeat("a.", 128), "invalid_request: must be at most 253 characters long"},
		{ForwardZone, "corp.example.", `"corp.example"`}, {ForwardZone, "single", `"single"`}, {ForwardZone, "carpa", `"carpa"`}, {ForwardZone, "10.in-addr.ARPA", notForward}, {ForwardZone, "ip6.arpa.", notForward}, {ForwardZone, "arpa", notForward}, {ForwardZone, "*.b", notZone}, {ForwardZone, ".", notZone}, {ForwardZone, true, "invalid_request: must be text, not a boolean"},
		{ChildZone, "branch", `"branch"`}, {ChildZone, "a.b.corp.example.", `"a.b.corp.example."`}, {ChildZone, "@", notChild}, {ChildZone, "*", notChild}, {ChildZone, "a b", notChild},
		{Owner, "@", `"@"`}, {Owner, "*", `"*"`}, {Owner, "*.a", `"*.a"`}, {Owner, "www.corp.example.", `"www.corp.example."`}, {Owner, "a.*", `"a.*"`}, {Owner, "a*", `"a*"`}, {Owner, "@.a", notListed}, {Owner, "$(x)", `"$(x)"`}, {Owner, "münchen", `"münchen"`},
		{Owner, `a\.b`, `"a\\.b"`}, {Owner, `a\032b.`, `"a\\032b."`}, {Owner, `a\\b`, `"a\\\\b"`}, {Owner, `\100c1`, notListed}, {Owner, `\d`, notListed}, {Owner, `a\046b`, notListed},
		{Owner, "a..b", notListed}, {Owner, `a\`, notListed}, {Owner, ".a", notListed}, {Owner, `a\.`, `"a\\."`}, {Target, ".", `"."`},
		{NewOwner, "a.*", notNew}, {NewOwner, "a*", notNew}, {NewOwner, "@.a", notNew}, {NewOwner, "$(x)", notNew}, {NewOwner, "münchen", notNew}, {NewOwner, `a\.b`, notNew},
		{NewTarget, "web1", `"web1"`}, {NewTarget, "a@b", notTarget}, {NewTarget, "*", notTarget}, {NewTarget, "a\x00", nul},

		{Network, "10.0.0.0/8", `"10.in-addr.arpa"`}, {Network, "172.16.0.0/16", `"16.172.in-addr.arpa"`}, {Network, "192.168.1.0/24", `"1.168.192.in-addr.arpa"`}, {Network, "10.1.0.0/24", `"0.1.10.in-addr.arpa"`},
		{Network, "2001:db8::/32", `"8.b.d.0.1.0.0.2.ip6.arpa"`}, {Network, "2001:DB8::/36", `"0.8.b.d.0.1.0.0.2.ip6.arpa"`}, {Network, "fe80::/16", `"0.8.e.f.ip6.arpa"`},
		{Network, "2001:db8::1/128", `"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"`},
		{Network, "10.0.0.0/9", v4Bits}, {Network, "10.1.2.3/32", v4Bits}, {Network, "0.0.0.0/0", v4Bits}, {Network, "2001:db8::/33", v6Bits}, {Network, "2000::/12", v6Bits},
		{Network, "10.0.0.5/24", "unprocessable: must not have host bits set: the network of that prefix is 10.0.0.0/24"},
		{Network, "::ffff:10.0.0.0/104", "unprocessable: must not be an IPv4 network written as IPv6"},
		{Network, "10.0.0.0", notCIDR}, {Network, "10.0.0.0/", notCIDR}, {Network, "10.0.0.0/33", notCIDR}, {Network, "10.0.0/8", notCIDR}, {Network, "10.0.0.0/08", notCIDR}, {Network, "10.in-addr.arpa", notCIDR}, {Network, "x/y", notCIDR},
		{NetworkOrZone, "10.0.0.0/8", `"10.in-addr.arpa"`}, {NetworkOrZone, "10.In-Addr.Arpa.", `"10.In-Addr.Arpa"`}, {NetworkOrZone, "0.8.e.f.ip6.arpa", `"0.8.e.f.ip6.arpa"`}, {NetworkOrZone, "trustanchors", `"trustanchors"`},
		{NetworkOrZone, "64/26.3.0.10.in-addr.arpa.", `"64/26.3.0.10.in-addr.arpa"`}, {Zone, "64/26.3.0.10.in-addr.arpa", `"64/26.3.0.10.in-addr.arpa"`}, {NewTarget, "65.64/26.3.0.10.in-addr.arpa", `"65.64/26.3.0.10.in-addr.arpa"`},
		{NetworkOrZone, "corp.example", notReverse}, {NetworkOrZone, "xin-addr.arpa", notReverse}, {NetworkOrZone, "10.0.0.0", notReverse},

		{OneOf("", "Domain", "Forest", "File"), "forest", `"Forest"`}, {OneOf("", "Domain", "Forest", "File"), "", notScope}, {OneOf("", "Domain", "Forest", "File"), "Custom", notScope}, {OneOf("", "Domain", "Forest", "File"), true, "invalid_request: must be text, not a boolean"},
		{Number(0, 15), "0", "0"}, {Number(0, 15), "15", "15"}, {Number(0, 15), json.Number("7"), "7"}, {Number(-1, 15), "-1", "-1"},
		{Number(0, 15), "16", notNumber}, {Number(0, 15), "-1", notNumber}, {Number(0, 15), "+1", notNumber}, {Number(0, 15), "01", notNumber}, {Number(0, 15), "1.0", notNumber}, {Number(0, 15), json.Number("1e1"), notNumber}, {Number(0, 15), " 1", notNumber}, {Number(0, 15), "99999999999999999999", notNumber}, {Number(0, 15), true, notNumber}, {Number(0, 15), nil, notNumber},
		{Addresses, "10.9.0.53", `["10.9.0.53"]`}, {Addresses, "10.9.0.53, 2001:DB8:0::53", `["10.9.0.53" "2001:db8::53"]`}, {Addresses, List("10.9.0.53,10.9.0.54"), `["10.9.0.53" "10.9.0.54"]`},
		{Addresses, strings.TrimSuffix(addresses, ","), "[" + shown + "]"}, {Addresses, addresses + "10.0.1.9", "invalid_request: must be at most 20 addresses"},
		{Addresses, "", notAddress}, {Addresses, "10.9.0.53,", notAddress}, {Addresses, "10.9.0", notAddress}, {Addresses, "010.9.0.53", notAddress}, {Addresses, "ns1.corp.example", notAddress}, {Addresses, "10.9.0.53:53", notAddress}, {Addresses, "10.9.0.53,a", notAddress},
		{Addresses, "10.9.0.53,10.9.0.53", "invalid_request: must not have an address twice"}, {Addresses, "2001:db8::1,2001:db8:0::1", "invalid_request: must not have an address twice"},
		{Addresses, "fe80::1%eth0", "invalid_request: must not have an address with a zone index"}, {Addresses, "::ffff:10.0.0.1", "invalid_request: must not have an IPv4 address written as IPv6"},
		{Addresses, "0.0.0.0", notHost}, {Addresses, "127.0.0.1", notHost}, {Addresses, "::1", notHost}, {Addresses, "224.0.0.1", notHost}, {Addresses, "255.255.255.255", notHost}, {Addresses, "ff02::1", notHost}, {Addresses, "::", notHost},
	} {
		assert.Equal(t, c.want, show(t, c.kind, c.raw), "%T %q", c.kind, c.raw)
	}
}

func TestClearedValuesHaveTheTypesOfTheParts(t *testing.T) {
	for _, k := range []Kind{Bool, GUID, Text("sn"), Password, UserName, Drive, OUName, GroupName, GroupScope, Identity, Reference, DN, Country, Zone, Owner, Target, Network, NetworkOrZone, FieldList(User)} {
		if cleared := k.Clear(); cleared != nil {
			require.Len(t, cleared, len(k.Parts()))
			for i, value := range cleared {
				assert.Equal(t, k.Parts()[i].Type, value.Type(), "%T", k)
			}
		}
		assert.NotEmpty(t, k.Doc().Text, "%T", k)
		assert.NotEmpty(t, k.Doc().Type, "%T", k)
		assert.Equal(t, k.Parts()[0].Type == "securestring", k.Secret(), "%T", k)
	}
}

func TestCountryTableIsISO3166(t *testing.T) {
	codes := map[string]country{}
	for name, c := range countryTable() {
		assert.NotEmpty(t, name)
		codes[c.code] = c
	}
	assert.Len(t, codes, 249)
	numbers := map[int64]string{}
	for code, c := range codes {
		assert.Empty(t, numbers[c.number], "%s has the number of another country", code)
		numbers[c.number] = code
		assert.Equal(t, c, countryTable()[foldCountry(c.name)], "the name of %s is that of another country", code)
	}
	folded := map[string]string{}
	for code, names := range namesIn(countryFile) {
		assert.Contains(t, codes, code)
		for _, name := range names {
			name = foldCountry(strings.TrimPrefix(name, "="))
			assert.Equal(t, code, countryTable()[name].code, name)
			assert.Empty(t, folded[name], "%s is a name of two countries", name)
			folded[name] = code
		}
	}
}

// FuzzDN: an accepted DN splits at unescaped commas into parts that are accepted as well.
func FuzzDN(f *testing.F) {
	for _, seed := range []string{"OU=Sales,DC=corp,DC=example", `CN=a\,b+SN=c,DC=x`, `OU=\C3\A4, DC=x`, "OU=a;DC=b", `OU=a\`, "OU=#1", "=", ","} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		decoded, problem := DN.Decode(s)
		if problem != nil {
			return
		}
		s, _ = cutADsPath(s)
		require.Equal(t, s, decoded.Text)
		start := 0
		for i := 0; i <= len(s); i++ {
			if i < len(s) && s[i] == '\\' {
				i++
				continue
			}
			if i == len(s) || s[i] == ',' {
				_, problem := DN.Decode(s[start:i])
				require.Nil(t, problem, "part %q of %q", s[start:i], s)
				start = i + 1
			}
		}
	})
}

func FuzzKinds(f *testing.F) {
	for _, seed := range []string{"jdoe", "10.0.0.0/8", "2001:db8::/32", "GR", "H:", `\\a\b`, "guid,name", "a\x00", "\xff", "true", "@", "*.a"} {
		f.Add(seed)
	}
	kinds := []Kind{Bool, GUID, Text("sn"), Text("description"), Password, UserName, Drive, OUName, GroupName, GroupScope, Identity, Reference, DN, Country, Zone, Owner, NewTarget, Network, NetworkOrZone, FieldList(User)}
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range kinds {
			decoded, problem := k.Decode(s)
			require.NotEqual(t, decoded == nil, problem == nil, "%T", k)
			if problem != nil {
				require.NotZero(t, problem.Code.Status())
				require.True(t, utf8.ValidString(problem.Message))
				continue
			}
			require.True(t, utf8.ValidString(s))
			require.NotContains(t, s, "\x00")
			require.Len(t, decoded.Values, len(k.Parts()))
			if k.Secret() {
				require.Equal(t, []ps.Value{ps.Secret(s)}, decoded.Values)
				require.Empty(t, decoded.Text)
			}
		}
	})
}

func TestFieldLists(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		raw  any
		want string
	}{
		{FieldList(Existence), "guid, EXISTS ,guid", `["exists" "guid"]`}, {FieldList(Existence), "*", `["exists" "guid" "distinguishedName"]`}, {FieldList(Existence), "all", `["exists" "guid" "distinguishedName"]`},
		{FieldList(Existence), "", `["exists" "guid" "distinguishedName"]`}, {FieldList(User), "ZipCode,street,pobox", `["streetAddress" "streetPoBox" "postalCode"]`},
		{FieldList(Existence), "guid,", "invalid_request: must be names of fields separated by commas; unknown: ''; known: exists, guid, distinguishedName"},
		{FieldList(Existence), "password", "invalid_request: must be names of fields separated by commas; unknown: 'password'; known: exists, guid, distinguishedName"},
		{FieldList(Existence), "a,b,c,d,e,f,g", "invalid_request: must be names of fields separated by commas; unknown: 'a', 'b', 'c', 'd', 'e', 2 more; known: exists, guid, distinguishedName"},
		{FieldList(Existence), "a, guid," + strings.Repeat("ä", 70), "invalid_request: must be names of fields separated by commas; unknown: 'a', '" + strings.Repeat("ä", 64) + "…'; known: exists, guid, distinguishedName"},
	} {
		assert.Equal(t, c.want, show(t, c.kind, c.raw), "%T %q", c.kind, c.raw)
	}
}
