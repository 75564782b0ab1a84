package nearest_test

import (
	"strings"
	"testing"

	"adgateway/gateway/nearest"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	fields := []string{"City", "Company", "Country", "DNS_HostName", "ZoneName", "Username", "LastName",
		"DisplayName", "OUPath"}
	flags := []string{"max-deletions", "max-password-resets", "max-changes", "rate", "concurrency", "network"}
	scopes := []string{"user:read", "user:write", "user:delete", "group:read", "dns:delete", "*"}
	segments := []string{"Jobs", "OU", "ADUser", "Computers", "Changes"}
	settings := []string{"http.listen", "http.dialect", "limits.bulkDelete", "servers.controllers"}
	for name, c := range map[string]struct {
		given string
		known []string
		want  string
	}{
		"swapped letters":        {"Ctiy", fields, "City"},
		"another case":           {"COUNTRI", fields, "Country"},
		"no separator":           {"dnshostname", fields, "DNS_HostName"},
		"a part":                 {"HostName", fields, "DNS_HostName"},
		"a part, in lower case":  {"hostname", fields, "DNS_HostName"},
		"has a part":             {"MyCountry2", fields, "Country"},
		"words in another order": {"NameZone", fields, "ZoneName"},
		"half of it is other":    {"Surname", fields, ""},
		"a letter too many":      {"Usernname", fields, "Username"},
		"too different":          {"Telephone", fields, ""},
		"nothing in common":      {"zzz", fields, ""},
		"too short":              {"Ci", fields, ""},
		"a short part":           {"ity", fields, "City"},
		"empty":                  {"", fields, ""},
		"separators only":        {"--", fields, ""},
		"no UTF-8":               {"Cit\xffy", fields, "City"},
		"very long":              {strings.Repeat("x", 1<<20), fields, ""},
		"a word left out":        {"max-resets", flags, "max-password-resets"},
		"a word too many":        {"max-object-deletions", flags, "max-deletions"},
		"a singular":             {"max-password-reset", flags, "max-password-resets"},
		"a plural":               {"networks", flags, "network"},
		"a word by itself":       {"changes", flags, "max-changes"},
		"one word in common":     {"max-objects", flags, ""},
		"a scope in plural":      {"users:read", scopes, "user:read"},
		"a scope turned round":   {"read:group", scopes, "group:read"},
		"a scope mistyped":       {"dns:delte", scopes, "dns:delete"},
		"half of a scope":        {"user", scopes, "user:read"},
		"a segment in plural":    {"OUs", segments, "OU"},
		"as long, and other":     {"ous", []string{"Jobs"}, ""},
		"a segment in singular":  {"Computer", segments, "Computers"},
		"a setting mistyped":     {"http.dialekt", settings, "http.dialect"},
		"a setting without dot":  {"bulkdelete", settings, "limits.bulkDelete"},
		"a part of a setting":    {"controllers", settings, "servers.controllers"},
	} {
		assert.Equal(t, c.want, nearest.Of(c.given, c.known), name)
	}
	assert.Empty(t, nearest.Of("x", nil))
}
