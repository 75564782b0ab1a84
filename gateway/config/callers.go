package config

import (
	"errors"
	"strconv"

	"go.yaml.in/yaml/v3"

	"adgateway/gateway/attributes"
	"adgateway/gateway/identity"
)

func signInRoles(field func(*Settings) *[]Role) value {
	return records[Role]{field, func(r *Role) map[string]part {
		return map[string]part{
			"group":  intoText(&r.Group),
			"name":   intoText(&r.Name),
			"scopes": intoList(&r.Scopes),
			"limits": intoLimits(&r.Limits),

			"rate":                  intoRate(&r.Quota.Rate),
			"concurrency":           intoNumber(&r.Quota.Concurrency),
			"deletionsPerHour":      intoNumber(&r.Quota.DeletionsPerHour),
			"passwordResetsPerHour": intoNumber(&r.Quota.PasswordResetsPerHour),
			"changesPerHour":        intoNumber(&r.Quota.ChangesPerHour),
			"revealsPerHour":        intoNumber(&r.Quota.RevealsPerHour),
		}
	}, []string{"group", "scopes"},
		"a list of roles with group, scopes, and perhaps name, limits, rate, concurrency, " +
			"deletionsPerHour, passwordResetsPerHour, changesPerHour and revealsPerHour"}
}

func siteAttributes(field func(*Settings) *[]attributes.Site) value {
	return records[attributes.Site]{field, func(a *attributes.Site) map[string]part {
		return map[string]part{
			"attribute":  intoText(&a.LDAP),
			"field":      intoText(&a.Field),
			"form":       intoText(&a.Form, attributes.Forms()...),
			"limit":      intoCount(&a.Limit),
			"values":     intoCount(&a.Most),
			"unique":     intoBoolean(&a.Unique),
			"privileged": intoBoolean(&a.Privileged),
		}
	}, []string{"attribute"}, "a list of attributes with attribute, " +
		"and perhaps field, form, limit, values, unique and privileged"}
}

// intoCount returns a part that is a number of at least 1.
func intoCount(field *int) part {
	set := func(node *yaml.Node) error {
		n, err := strconv.ParseInt(node.Value, 10, 32)
		if node.Kind != yaml.ScalarNode || err != nil || n < 1 {
			return errors.New("takes a whole number of at least 1")
		}
		*field = int(n)
		return nil
	}
	get := func(bool) any {
		if *field == 0 {
			return nil
		}
		return *field
	}
	return part{set: set, get: get}
}

// intoRate returns a part that is a number of requests per second, minute or hour.
func intoRate(field *string) part {
	return intoFitting(field, func(text string) error { return identity.Rate(text).Check() })
}

// mostPerHour is the highest hourly limit of a caller.
const mostPerHour = 1_000_000

// intoNumber returns a part that is a limit of a caller. The field stays nil if the limit is not set.
func intoNumber(field **int) part {
	set := func(node *yaml.Node) error {
		n, err := strconv.Atoi(node.Value)
		if node.Kind != yaml.ScalarNode || err != nil || n < 0 || n > mostPerHour {
			return errors.New("takes a whole number from 0 to 1000000")
		}
		*field = &n
		return nil
	}
	get := func(bool) any {
		if *field == nil {
			return nil
		}
		return **field
	}
	return part{set: set, get: get}
}

func acmeAccounts(field func(*Settings) *[]ACMEAccount) value {
	return records[ACMEAccount]{field, func(a *ACMEAccount) map[string]part {
		return map[string]part{
			"subdomain":  intoText(&a.Subdomain),
			"credential": intoFitting(&a.Credential, checkReference),
			"name":       intoName(&a.Name),
		}
	}, []string{"subdomain", "credential", "name"}, "a list of accounts with subdomain, credential and name"}
}

// checkReference returns an error if the text is not a reference to a credential.
func checkReference(text string) error {
	_, err := identity.ParseReference(text)
	return err
}
