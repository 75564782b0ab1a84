package ops

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"adgateway/gateway/identity"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// mediaJSON is the media type of most protocols.
const mediaJSON = "application/json"

var settleChallenge = Settle{Script: "Confirm-GatewayChallenge"}

var acmeRows = []*Operation{
	{
		ID: "acme.present", Summary: "Adds the TXT record for an ACME challenge, for clients that use the httpreq protocol.",
		Path: "/api/Acme/HttpReq/present", Scope: identity.DNSAcme, Effect: Create,
		Params:   challengeParams,
		Rules:    []Rule{oneMode},
		Script:   "Add-GatewayChallenge",
		Fixed:    ps.Args{"Pair": ps.Bool(false)},
		Reply:    Reply{challengeShape, List},
		Settle:   settleChallenge,
		Fails:    []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Subject:  "challenge",
		Success:  "The {subject} was added.",
		Protocol: httpReq(true),
	},
	{
		ID: "acme.cleanup", Summary: "Removes the TXT record of an ACME challenge, for clients that use the httpreq protocol.",
		Method: http.MethodPost, Path: "/api/Acme/HttpReq/cleanup",
		Scope: identity.DNSAcme, Effect: Delete,
		Params:   challengeParams,
		Rules:    []Rule{oneMode},
		Script:   "Remove-GatewayChallenge",
		Reply:    Reply{challengeShape, List},
		Settle:   settleChallenge,
		Fails:    []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Subject:  "challenge",
		Success:  "The {subject} was removed.",
		Protocol: httpReq(false),
	},
	{
		ID: "acme.update", Summary: "Adds the TXT record for an ACME challenge, for clients that use the acme-dns protocol. The two newest records of the name are kept.",
		Path: "/api/Acme/AcmeDns/update", Scope: identity.DNSAcme, Effect: Create,
		Params: []Param{
			{Name: "subdomain", Kind: schema.Subdomain, Required: true, Unsent: true, Doc: "Account, which determines the name of the record."},
			{Name: "txt", Kind: schema.Challenge, Required: true, Unsent: true, Doc: "Text of the record."},
		},
		Script:  "Add-GatewayChallenge",
		Fixed:   ps.Args{"Pair": ps.Bool(true)},
		Reply:   Reply{challengeShape, List},
		Settle:  settleChallenge,
		Fails:   []schema.Code{schema.NotFound, schema.Conflict, schema.Protected, schema.Unprocessable},
		Subject: "challenge of account '{subdomain}'",
		Success: "The {subject} was added.",
		Protocol: &Protocol{
			Name: "acmedns", Media: mediaJSON, Status: http.StatusOK,
			UserHeader: "X-Api-User", KeyHeader: "X-Api-Key",
			Complete: completeAccount, Supplies: map[string]string{"Name": "string", "Text": "string", "TimeToLive": "int"}, Repeats: true,
			Answer:  func(b *Bound, _ Context, _ []json.RawMessage) (any, error) { return updated{b.Text("txt")}, nil },
			Refusal: refuseUpdate,
			Output:  updated{"LPsIwTo7o8BoG0-vjCyGQGBWSVIPxI-i_X336eUOQZo"},
		},
	},
}

// challengeShape is the shape of the records that the scripts emit. No answer shows them.
var challengeShape = &schema.Shape{Name: "Challenge", Fields: []schema.Field{{Name: "fqdn"}, {Name: "value"}}}

// challengeParams are the parameters of both httpreq modes.
var challengeParams = []Param{
	{Name: "fqdn", Kind: schema.RecordName, Audited: true, Unsent: true, Doc: "Name of the record."},
	{Name: "value", Kind: schema.Challenge, Audited: true, Unsent: true, Doc: "Text of the record."},
	{Name: "domain", Kind: schema.CertificateName, Audited: true, Unsent: true, Doc: "Name in the certificate, in RAW mode."},
	{Name: "token", Kind: schema.ChallengeToken, Unsent: true, Doc: "Token of the challenge, in RAW mode."},
	{Name: "keyAuth", Kind: schema.KeyAuthorization, Unsent: true, Doc: "Key authorization, in RAW mode."},
}

// oneMode requires the members of exactly one httpreq mode.
var oneMode = Rule{
	Doc: "either fqdn and value, or domain, token, and keyAuth (RAW mode) are required",
	Apply: func(b *Bound) []schema.FieldError {
		wanted := []string{"fqdn", "value"}
		if !b.Has("fqdn") && !b.Has("value") && (b.Has("domain") || b.Has("token") || b.Has("keyAuth")) {
			wanted = []string{"domain", "token", "keyAuth"}
		}
		var problems []schema.FieldError
		for _, name := range wanted {
			if !b.Has(name) {
				problems = append(problems,
					schema.FieldError{Field: name, Code: schema.InvalidRequest, Message: "is required"})
			}
		}
		return problems
	},
}

// presented and presentedRaw are the answers to httpreq. They repeat the request, because clients
// compare them.
type presented struct {
	FQDN  string `json:"fqdn"`
	Value string `json:"value"`
}

type presentedRaw struct {
	Domain  string `json:"domain"`
	Token   string `json:"token"`
	KeyAuth string `json:"keyAuth"`
}

// updated is the answer to acme-dns.
type updated struct {
	Text string `json:"txt"`
}

// httpReq returns the protocol of lego's httpreq provider, which other clients use, too.
func httpReq(presents bool) *Protocol {
	supplies := map[string]string{"Name": "string", "Text": "string"}
	if presents {
		supplies["TimeToLive"] = "int"
	}
	return &Protocol{
		Name: "httpreq", Media: mediaJSON, Status: http.StatusOK, Supplies: supplies, Repeats: true,
		Complete: func(b *Bound, c Context) *schema.FieldError {
			name, value := b.Text("fqdn"), b.Text("value")
			if !b.Has("fqdn") {
				name = ChallengeLabel + "." + strings.TrimPrefix(b.Text("domain"), "*.")
				digest := sha256.Sum256([]byte(b.Text("keyAuth")))
				value = base64.RawURLEncoding.EncodeToString(digest[:])
			}
			return b.challenge(c, name, value, presents)
		},
		Answer: func(b *Bound, _ Context, _ []json.RawMessage) (any, error) {
			if b.Has("fqdn") {
				return presented{b.Text("fqdn"), b.Text("value")}, nil
			}
			return presentedRaw{b.Text("domain"), b.Text("token"), b.Text("keyAuth")}, nil
		},
		Output: presented{"_acme-challenge.www.corp.example.", "LPsIwTo7o8BoG0-vjCyGQGBWSVIPxI-i_X336eUOQZo"},
	}
}

// challenge supplies the record of a challenge, or refuses a name that is out of bounds. These bounds apply
// to every credential.
func (b *Bound) challenge(c Context, name, value string, presents bool) *schema.FieldError {
	name = strings.TrimSuffix(name, ".")
	label, _, _ := strings.Cut(name, ".")
	inZone := slices.ContainsFunc(c.Settings.ChallengeZones, func(zone string) bool {
		zone = Fold(strings.TrimSuffix(zone, "."))
		return Fold(name) == zone || strings.HasSuffix(Fold(name), "."+zone)
	})
	if Fold(label) != ChallengeLabel && !inZone {
		return &schema.FieldError{Code: schema.Limit,
			Message: "The name does not begin with " + ChallengeLabel +
				", and is not in a zone of acme.zones."}
	}
	b.document.names = []string{name}
	b.supply("Name", ps.Text(name))
	b.supply("Text", ps.Text(value))
	if presents {
		b.supply("TimeToLive", ps.Int(int64(c.Settings.ChallengeTTL)))
	}
	return nil
}

// completeAccount finds the acme-dns account, which must belong to the caller.
func completeAccount(b *Bound, c Context) *schema.FieldError {
	for _, account := range c.Settings.Accounts {
		if account.Subdomain == b.Text("subdomain") && meansCaller(account.Credential, c.Caller) {
			return b.challenge(c, account.Name, b.Text("txt"), true)
		}
	}
	return &schema.FieldError{Field: "subdomain", Code: schema.Limit,
		Message: "is no account of this credential (acme.accounts)"}
}

// meansCaller reports whether an account's credential is the caller's.
func meansCaller(credential string, caller *identity.Principal) bool {
	by, err := identity.ParseReference(credential)
	return err == nil && by.Means(caller.Who())
}

// refuseUpdate returns the refusals of acme-dns.
func refuseUpdate(code schema.Code, field string) (int, any) {
	refusal := func(status int, word string) (int, any) { return status, map[string]string{"error": word} }
	switch {
	case slices.Contains([]schema.Code{schema.Unauthenticated, schema.Forbidden, schema.Limit}, code):
		return refusal(http.StatusUnauthorized, "forbidden")
	case code == schema.InvalidRequest && field == "subdomain":
		return refusal(http.StatusBadRequest, "bad_subdomain")
	case code == schema.InvalidRequest && field == "txt":
		return refusal(http.StatusBadRequest, "bad_txt")
	case code == schema.InvalidRequest || code == schema.UnsupportedMediaType:
		return refusal(http.StatusBadRequest, "malformed_json_payload")
	default:
		return refusal(code.Status(), string(code))
	}
}
