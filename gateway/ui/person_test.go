package ui

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
	"adgateway/gateway/ui/work"
)

// TestPhonesCanBeCalled: phone numbers are links, although html/template removes tel: links that are plain
// strings.
func TestPhonesCanBeCalled(t *testing.T) {
	for number, link := range map[string]string{
		"+49 (30) 5550-102":   ` href="tel:+49305550102"`,
		`1"><b>2`:             ` href="tel:12"`,
		"javascript:alert(9)": ` href="tel:9"`,
		"ask for it":          "",
		"+":                   "",
	} {
		page := shownAt(t, person(map[string]any{"officePhone": number}, nil), "/ui/people/g", showKind("user"))
		assert.Equal(t, link != "", strings.Contains(page, "tel:"), number)
		assert.Contains(t, page, strings.ReplaceAll(link, "+", "&#43;"), number)
		assert.NotContains(t, page, "ZgotmplZ", number)
	}
}

// asking is an API that records the text that was searched for.
type asking struct {
	given
	text *any
}

func (a asking) Call(ctx context.Context, operation string, c call.Call) (call.Answer, error) {
	if values, is := c.Input.(call.Values); is && operation == "search.find" {
		*a.text = values["Text"]
	}
	return a.given.Call(ctx, operation, c)
}

// TestTheDomainOfANameCounts: EUROPE\lweber is another account than lweber in this domain. The search
// recognizes its own domain, and other operations recognize all domains of the forest.
func TestTheDomainOfANameCounts(t *testing.T) {
	var text any
	own := map[string]any{"type": "user", "guid": "g", "name": "Lea Weber", "username": "lweber"}
	for _, c := range []struct {
		name  string
		found []map[string]any
		want  string
	}{{`CORP\lweber`, []map[string]any{own}, "g"}, {`EUROPE\lweber`, nil, `EUROPE\lweber`}} {
		shownAt(t, asking{given{"search.find": c.found}, &text}, say.Base, func(v *frame.Visit) {
			meant, problem := work.Meant(v, form.Person, c.name)
			assert.Nil(t, problem, c.name)
			assert.Equal(t, c.want, meant)
			assert.Equal(t, c.name, text)
			v.W.WriteHeader(http.StatusOK)
		})
		for address, show := range map[string]func(*frame.Visit){"search": searchAll, "suggest": suggest} {
			shownAt(t, asking{given{"search.find": c.found}, &text}, say.Asking(say.Base+address, "q", c.name), show)
			assert.Equal(t, c.name, text, address)
		}
	}
}

// TestRightsNameEveryLimit: the page names every limit of a role, because a role whose limit is missing would
// seem to have none.
func TestRightsNameEveryLimit(t *testing.T) {
	role := roleOf(1, &identity.Principal{Limits: identity.Limits{
		OUs: []string{"OU=Staff,DC=corp,DC=example"}, Zones: []string{"lab.example"},
		Groups: []string{"VPN Users", "CN=Door,OU=Staff,DC=corp,DC=example"}, Names: []string{"web.lab.example"},
	}})
	var said []string
	for _, limit := range role.Limits {
		said = append(said, limit.In(texts.English))
	}
	assert.Equal(t, []string{
		"In Staff and below", "In the zone lab.example", "Only the group VPN Users", "Only the group Door",
		"Only the DNS name web.lab.example and below",
	}, said)
}
