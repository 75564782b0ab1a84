package authn

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The forms in which a credential names a client certificate, in addition to the text of its
// subject. Each form is a key of the certificates that it stands for.
const (
	formDER    = "der:"    // hexadecimal DER of the subject
	formSHA256 = "sha256:" // digest of the whole certificate
	formDNS    = "dns:"    // subject alternative names
	formURI    = "uri:"
	formEmail  = "email:"

	formDN = "dn:" // only in keys: the subject as text
)

const certificateForms = "write its subject as CN=portal,O=Example (the last part of the certificate's " +
	"own order first, in its own case), " +
	"or dns:NAME, uri:URI, email:ADDRESS, sha256:DIGEST of the certificate, or der:HEX of its subject"

// certificateKey checks the name that a credential gives to client certificates, and returns the
// key of these certificates. Every text stands for exactly one subject or name.
func certificateKey(text string) (string, error) {
	form, rest, _ := strings.Cut(text, ":")
	switch form += ":"; {
	case form == formSHA256:
		digest, err := hex.DecodeString(strings.ReplaceAll(rest, ":", ""))
		if err != nil || len(digest) != sha256.Size {
			return "", fmt.Errorf("%q is not the SHA-256 digest of a certificate, which has 64 hexadecimal digits "+
				"('openssl x509 -fingerprint -sha256' shows it)", text)
		}
		return formSHA256 + hex.EncodeToString(digest), nil
	case form == formDER:
		der, err := hex.DecodeString(rest)
		if err != nil || len(der) == 0 {
			return "", fmt.Errorf("%q is not a subject in hexadecimal DER", text)
		}
		return formDER + hex.EncodeToString(der), nil
	case form == formDNS && rest != "":
		return formDNS + strings.ToLower(rest), nil
	case form == formEmail && strings.Contains(rest, "@"):
		return formEmail + foldEmail(rest), nil
	case form == formURI && strings.Contains(rest, ":"):
		return text, nil
	}
	key, err := distinguishedKey(text)
	if err != nil {
		return "", fmt.Errorf("%q does not name a client certificate: %w; %s", text, err, certificateForms)
	}
	return key, nil
}

// foldEmail converts the domain, the only case-insensitive part, to lower case.
func foldEmail(address string) string {
	at := strings.LastIndexByte(address, '@')
	return address[:at] + strings.ToLower(address[at:])
}

// certificateKeys returns the keys of a verified certificate.
func certificateKeys(certificate *x509.Certificate) []string {
	keys := []string{formSHA256 + digestHex(certificate), formDER + hex.EncodeToString(certificate.RawSubject)}
	if key, ok := rawKey(certificate.RawSubject); ok {
		keys = append(keys, key)
	}
	for _, name := range certificate.DNSNames {
		keys = append(keys, formDNS+strings.ToLower(name))
	}
	for _, uri := range certificate.URIs {
		keys = append(keys, formURI+uri.String())
	}
	for _, address := range certificate.EmailAddresses {
		if strings.Contains(address, "@") {
			keys = append(keys, formEmail+foldEmail(address))
		}
	}
	return keys
}

func digestHex(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.Raw)
	return hex.EncodeToString(sum[:])
}

// issuedBy reports whether an issuer's key is found in one of the verified chains, as the direct
// issuer by name, or as any authority by digest.
func issuedBy(issuer string, chains [][]*x509.Certificate) bool {
	return slices.ContainsFunc(chains, func(chain []*x509.Certificate) bool {
		if name, ok := rawKey(chain[0].RawIssuer); ok && name == issuer || formDER+
			hex.EncodeToString(chain[0].RawIssuer) == issuer {
			return true
		}
		return slices.ContainsFunc(chain[1:],
			func(c *x509.Certificate) bool { return formSHA256+digestHex(c) == issuer })
	})
}

// unexpired returns the verified chains in which no certificate has expired. TLS verifies a certificate only
// when the client connects, and a connection may be open for longer than the certificate is valid.
func unexpired(chains [][]*x509.Certificate, now time.Time) [][]*x509.Certificate {
	return slices.DeleteFunc(slices.Clone(chains), func(chain []*x509.Certificate) bool {
		return slices.ContainsFunc(chain, func(c *x509.Certificate) bool { return now.After(c.NotAfter) })
	})
}

// attributeTypes are the names of attribute types in a subject (RFC 4514, RFC 4519).
var attributeTypes = map[string]string{
	"cn": "2.5.4.3", "sn": "2.5.4.4", "serialnumber": "2.5.4.5", "c": "2.5.4.6", "l": "2.5.4.7", "st": "2.5.4.8", "s": "2.5.4.8",
	"street": "2.5.4.9", "o": "2.5.4.10", "ou": "2.5.4.11", "title": "2.5.4.12", "t": "2.5.4.12", "postalcode": "2.5.4.17",
	"gn": "2.5.4.42", "g": "2.5.4.42", "uid": "0.9.2342.19200300.100.1.1", "dc": "0.9.2342.19200300.100.1.25",
	"e": "1.2.840.113549.1.9.1", "emailaddress": "1.2.840.113549.1.9.1",
}

// distinguishedKey parses a subject as text (RFC 4514). A name with several values in one part is
// refused, because programs write several parts in the same form.
func distinguishedKey(text string) (string, error) {
	var key strings.Builder
	key.WriteString(formDN)
	for rest, more := text, true; more; {
		name, after, ok := strings.Cut(rest, "=")
		if !ok {
			return "", errors.New("a part of it has no '='")
		}
		name = strings.ToLower(strings.TrimSpace(name))
		oid := attributeTypes[name]
		if oid == "" {
			oid = strings.TrimPrefix(name, "oid.")
			if !strings.Contains(oid, ".") || strings.Trim(oid, "0123456789.") != "" {
				return "", fmt.Errorf("%q is not the type of a part", name)
			}
		}
		value, left, err := partValue(after)
		if err != nil {
			return "", err
		}
		writePart(&key, oid, value)
		rest, more = left, left != ""
		rest = strings.TrimPrefix(rest, ",")
	}
	return key.String(), nil
}

func writePart(key *strings.Builder, oid, value string) {
	fmt.Fprintf(key, "%s=%d:%s,", oid, len(value), value)
}

// partValue parses a value up to a comma. rest begins with that comma.
func partValue(text string) (value, rest string, err error) {
	var b strings.Builder
	text = strings.TrimLeft(text, " ")
	if strings.HasPrefix(text, "#") {
		return "", "", errors.New("a value in hexadecimal must be written as der:HEX")
	}
	length := 0 // length up to the last character that is escaped or not a space
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ',':
			rest = text[i:]
			return finishValue(b.String()[:length], rest)
		case '+':
			return "", "", errors.New("'+' can mean one part with several values, or several parts: write several " +
				"parts with commas, and use der: for several values")
		case ';', '<', '>', '"':
			return "", "", fmt.Errorf("%q needs a backslash before it", c)
		case '\\':
			if i++; i == len(text) {
				return "", "", errors.New("it ends in a backslash")
			}
			if i+1 < len(text) {
				if octet, err := strconv.ParseUint(text[i:i+2], 16, 8); err == nil {
					b.WriteByte(byte(octet))
					i++
					length = b.Len()
					continue
				}
			}
			b.WriteByte(text[i])
			length = b.Len()
		default:
			b.WriteByte(c)
			if c != ' ' {
				length = b.Len()
			}
		}
	}
	return finishValue(b.String()[:length], "")
}

func finishValue(value, rest string) (string, string, error) {
	if value == "" || !utf8.ValidString(value) || rest == "," {
		return "", "", errors.New("a part of it is empty or not UTF-8")
	}
	return value, rest, nil
}

// rawKey returns the key of a subject in DER. It returns false if no text can stand for the
// subject, because one part has several values or a value is not of a usual string type.
func rawKey(der []byte) (string, bool) {
	type attribute struct {
		Type  asn1.ObjectIdentifier
		Value asn1.RawValue
	}
	type partSET []attribute
	var parts []partSET
	if rest, err := asn1.Unmarshal(der, &parts); err != nil || len(rest) > 0 || len(parts) == 0 {
		return "", false
	}
	var key strings.Builder
	key.WriteString(formDN)
	for _, part := range slices.Backward(parts) {
		if len(part) != 1 {
			return "", false
		}
		value := part[0].Value
		usual := []int{asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagIA5String}
		if value.Class != asn1.ClassUniversal || !slices.Contains(usual, value.Tag) || !utf8.Valid(value.Bytes) {
			return "", false
		}
		writePart(&key, part[0].Type.String(), string(value.Bytes))
	}
	return key.String(), true
}
