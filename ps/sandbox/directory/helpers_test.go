package directory

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"unicode/utf16"

	"adgateway/ps/sandbox/internal/data"
	"adgateway/ps/sandbox/internal/ldif"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// New returns a domain that contains only the standard containers and the built-in accounts. name is
// the DNS name. Its controllers are dc1 and dc2.
func New(name string, opts Options) (*Domain, error) {
	b, err := data.Entries("standard.ldif")
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(name, ".")
	text := strings.ReplaceAll(string(b), "DC=corp,DC=example", "DC="+strings.ReplaceAll(name, ".", ",DC="))
	text = strings.Replace(text, "\ndc: corp\n", "\ndc: "+first+"\n", 1)
	records, err := ldif.Parse("standard.ldif", []byte(text))
	if err != nil {
		return nil, err
	}
	return Open(opts, records)
}

// QuotePassword returns a value of unicodePwd: UTF-16LE in double quotes.
func QuotePassword(password string) []byte {
	units := utf16.Encode([]rune(`"` + password + `"`))
	b := make([]byte, 0, 2*len(units))
	for _, u := range units {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}

// ParseACE parses the text of ACE.String.
func ParseACE(text string) (ACE, bool) {
	f := strings.Fields(text)
	if len(f) < 3 || f[0] != "Deny" {
		return ACE{}, false
	}
	sid, ok := ParseSID(f[1])
	if !ok {
		return ACE{}, false
	}
	a := ACE{Trustee: sid}
	if _, err := fmt.Sscanf(f[2], "%v", (*uint32)(&a.Rights)); err != nil {
		return ACE{}, false
	}
	for _, x := range f[3:] {
		if x == "inherit" {
			a.Inherit = true
		} else if a.ObjectType, ok = ParseGUID(x); !ok {
			return ACE{}, false
		}
	}
	return a, true
}

// CodeOf returns the Win32 code of an error of this package; ok is false for
// other errors.
func CodeOf(err error) (code int, ok bool) {
	var e *Error
	if errors.As(err, &e) {
		return e.Code, true
	}
	return 0, false
}

// IsNotFound reports whether err means that an object does not exist.
func IsNotFound(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == KindNotFound
}

// Has reports whether the attribute has a value in this copy.
func (o *Object) Has(name string) bool { return len(o.find(name).vals) > 0 }

// Count returns the number of values.
func (o *Object) Count(name string) int { return len(o.find(name).vals) }

// Bool returns the first value as a Boolean; ok is false if there is none.
func (o *Object) Bool(name string) (b, ok bool) {
	a := o.find(name)
	if len(a.vals) == 0 {
		return false, false
	}
	return a.vals[0] == "TRUE", true
}

// Bytes returns the octets of the first value, nil if there is none.
func (o *Object) Bytes(name string) []byte {
	a := o.find(name)
	if len(a.vals) == 0 {
		return nil
	}
	return []byte(a.vals[0])
}

// BySAM reads an object like Get, given its sAMAccountName in any case. Computer names need their "$" (facts
// E51). If the account does not exist, the code is 8333.
func (c *DC) BySAM(ctx context.Context, name string, attributes ...string) (*Object, error) {
	return c.read(ctx, attributes, func(r *replica) (*node, *Error) {
		if n := r.bySAM(name); n != nil {
			return n, nil
		}
		return nil, fail(CodeNotFound, KindNotFound, "", "no account %q", name)
	})
}

// Unlock ends a lockout. It writes nothing if the account is not locked out
// (facts E15).
func (c *DC) Unlock(ctx context.Context, ref string) error {
	return c.Modify(ctx, ref, []Change{{Op: OpReplace, Name: "lockoutTime", Values: []any{0}}}, ModifyOptions{})
}

// Allowed reports whether objects of the class may have the attribute; it is false
// for unknown names.
func (s *Schema) Allowed(class, attribute string) bool {
	c, ok := s.Class(class)
	if !ok {
		return false
	}
	a, ok := s.Attribute(attribute)
	return ok && c.Allows(a)
}

// Chain returns the class and its ancestors, starting at top.
func (c *Class) Chain() []string { return c.chain }

// IsLink reports whether the attribute is a forward or back link.
func (a *Attribute) IsLink() bool { return a.LinkID != 0 }

// RDNs returns a copy of all RDNs, leaf first.
func (d DN) RDNs() []RDN { return append([]RDN(nil), d.rdns...) }

// Len returns the number of objects.
func (s *Snapshot) Len() int { return len(s.objects) }

// String returns the filter in canonical form; compiling it returns an equal filter.
func (f *Filter) String() string {
	var b strings.Builder
	f.root.write(&b)
	return b.String()
}

func (c *clause) write(b *strings.Builder) {
	b.WriteByte('(')
	switch c.kind {
	case clauseAnd, clauseOr, clauseNot:
		b.WriteByte("&|!"[c.kind])
		for _, s := range c.subs {
			s.write(b)
		}
	case clausePresent:
		b.WriteString(c.attr + "=*")
	case clauseSubstring:
		b.WriteString(c.attr + "=")
		for i, x := range c.parts {
			if i > 0 {
				b.WriteByte('*')
			}
			b.WriteString(EscapeFilter(x))
		}
	case clauseRule:
		b.WriteString(c.attr + ":" + c.rule + ":=" + EscapeFilter(c.value))
	default:
		op := map[clauseKind]string{clauseEqual: "=", clauseApprox: "~=", clauseGreater: ">=",
			clauseLess: "<="}[c.kind]
		b.WriteString(c.attr + op + EscapeFilter(c.value))
	}
	b.WriteByte(')')
}
