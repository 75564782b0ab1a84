package schema

import "regexp"

// RecordName is a full record name. A trailing dot is kept.
var RecordName Kind = domainKind{base: base{"string"}, pattern: zonePattern, what: "record name",
	example: "_acme-challenge.www.corp.example.", dot: true}

// CertificateName is a name as in certificates: a full name or a wildcard.
var CertificateName Kind = domainKind{base: base{"string"}, pattern: ownerPattern, what: "host name",
	example: "www.corp.example", dot: true}

// Challenge is the text of a record that answers a challenge: a SHA-256 digest in
// base64url without padding (RFC 8555, 8.4).
var Challenge Kind = patternKind{
	base: base{"string"}, pattern: regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`), limit: 43,
	must:    "must be a base64url digest of 43 letters, digits, hyphens, and underscores",
	example: "LPsIwTo7o8BoG0-vjCyGQGBWSVIPxI-i_X336eUOQZo",
}

// ChallengeToken and KeyAuthorization are agreed between an authority and its client. The record's
// text is the digest of the latter.
var (
	ChallengeToken Kind = patternKind{
		base: base{"string"}, pattern: regexp.MustCompile(`^[A-Za-z0-9_-]{1,512}$`), limit: 512,
		must: "must be a base64url token", example: "DGyRejmCefe7v4NfDGDKfA",
	}
	KeyAuthorization Kind = patternKind{
		base: base{"string"}, pattern: regexp.MustCompile(`^[A-Za-z0-9_-]{1,512}\.[A-Za-z0-9_-]{43}$`), limit: 512 + 44,
		must:    "must be a token, a dot, and the base64url thumbprint of a key",
		example: "DGyRejmCefe7v4NfDGDKfA.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI",
	}
)

// Subdomain identifies an account to acme-dns clients.
var Subdomain Kind = patternKind{
	base: base{"string"}, pattern: regexp.MustCompile(`^[A-Za-z0-9-]{1,63}$`), limit: 63,
	must: "must be a label of letters, digits, and hyphens", example: "c36f50e8-4632-44f0-83fe-e070fef28a10",
}
