package filter

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits on a search text.
const (
	MinText = 2
	MaxText = 64
)

// Minimum lengths of a text for a search inside of words or among phone numbers. Both searches read
// every object of the class.
const (
	minInside = 3 // in characters
	minDigits = 5
	maxDigits = 8 // number of last digits, which are the same in all spellings of a phone number
)

// Text is a text that somebody types to find objects.
type Text struct {
	text      string   // its words, with one blank between them
	domain    string   // of a logon name; empty if the text names none
	account   string   // the text after the domain; otherwise the whole text
	spellings []string // other ways to write account
}

// ParseText checks a text. The error is a clause that continues a sentence about the text.
func ParseText(s string) (*Text, error) {
	t := &Text{text: strings.Join(strings.Fields(s), " ")}
	switch n := utf8.RuneCountInString(t.text); {
	case n < MinText || n > MaxText:
		return nil, fmt.Errorf("must have %d to %d characters", MinText, MaxText)
	case t.text[0] == '=' || t.text[0] == '*':
		return nil, fmt.Errorf("must not begin with %c: the search always matches the beginning", t.text[0])
	}
	t.account = t.text
	domain, account, has := strings.Cut(t.text, `\`)
	if has && domain != "" && account != "" && !strings.Contains(domain, " ") {
		t.domain, t.account = domain, account
	}
	t.spellings = respelled(t.account)
	return t, nil
}

func (t *Text) String() string { return t.text }

// Domain returns the domain of a text such as DOMAIN\name, or "" if the text names no domain.
func (t *Text) Domain() string { return t.domain }

// Whole returns the text as if it named no domain.
func (t *Text) Whole() *Text {
	return &Text{text: t.text, account: t.text, spellings: respelled(t.text)}
}

// Spellings returns the text without the domain of a logon name, followed by other spellings of it.
func (t *Text) Spellings() []string { return append([]string{t.account}, t.spellings...) }

// The directory ignores accents, so it considers Müller equal to Muller, but not to Mueller. Each of these
// replacers converts letters to other letters that people write instead.
var (
	umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue",
		"å", "aa", "Å", "Aa", "ø", "oe", "Ø", "Oe")
	digraphs = strings.NewReplacer("ae", "ä", "oe", "ö", "ue", "ü", "Ae", "Ä", "Oe", "Ö", "Ue", "Ü",
		"AE", "Ä", "OE", "Ö", "UE", "Ü")
	quotes    = strings.NewReplacer("’", "'", "‘", "'", "ʼ", "'", "´", "'", "`", "'")
	unquoted  = strings.NewReplacer("'", "")
	typeset   = strings.NewReplacer("'", "’")
	composing = strings.NewReplacer("a\u0308", "ä", "o\u0308", "ö", "u\u0308", "ü",
		"A\u0308", "Ä", "O\u0308", "Ö", "U\u0308", "Ü")
)

// respelled returns other spellings of a text, at most four.
func respelled(text string) (all []string) {
	add := func(s string) {
		if s != text && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	plain := composing.Replace(text)
	add(umlauts.Replace(plain))
	add(digraphs.Replace(plain))
	plain = quotes.Replace(plain)
	if strings.Contains(plain, "'") {
		add(plain)
		add(unquoted.Replace(plain))
		add(typeset.Replace(plain))
	} else {
		add(elided(plain))
	}
	return all[:min(len(all), 4)]
}

// elided inserts the apostrophe that people leave out in names such as O'Brien and D'Angelo. It does so in
// the first word that may have one.
func elided(text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		if len(word) < 5 || word[1] >= utf8.RuneSelf {
			continue
		}
		vowel := strings.IndexByte("aeiouAEIOU", word[1]) >= 0
		if first := word[0] | 0x20; first == 'o' && !vowel || first == 'd' && vowel {
			words[i] = word[:1] + "'" + word[1:]
			break
		}
	}
	return strings.Join(words, " ")
}

// Clause returns an LDAP filter for the objects of a class in which an attribute that people
// search by begins with the text. It covers more attributes than ANR does, and does not
// depend on the forest's dSHeuristics (facts S2, S5, S6).
func (t *Text) Clause(class *Class) string {
	any := join('|', compare("anr", "=", t.text))
	t.addBeginnings(any, class, t.text)
	if t.account != t.text {
		any.subs = append(any.subs, compare("anr", "=", t.account))
		t.addBeginnings(any, class, t.account)
	}
	for _, spelling := range t.spellings {
		any.subs = append(any.subs, compare("anr", "=", spelling))
		if class == Users {
			any.subs = append(any.subs, namedClauses(spelling)...)
		}
	}
	return strings.Join(any.segments(), "")
}

func begins(attr, s string) *clause { return compare(attr, "=", s, "") }

// addBeginnings adds clauses for attributes of a class that ANR does not cover.
func (t *Text) addBeginnings(any *clause, class *Class, text string) {
	switch class {
	case Computers:
		if host, _, dotted := strings.Cut(text, "."); dotted && host != "" {
			any.subs = append(any.subs, begins("name", host)) // dNSHostName has no index
		}
	case Groups:
		any.subs = append(any.subs, begins("mail", text))
	default:
		any.subs = append(any.subs, begins("mail", text), begins("userPrincipalName", text))
		if strings.ContainsFunc(text, unicode.IsDigit) && !strings.Contains(text, " ") {
			any.subs = append(any.subs, compare("employeeID", "=", text))
		}
		any.subs = append(any.subs, namedClauses(text)...)
	}
}

// namedClauses returns clauses for a first and a last name in either order.
func namedClauses(text string) (all []*clause) {
	first, last := strings.Index(text, " "), strings.LastIndex(text, " ")
	for i, at := range []int{first, last} {
		if at < 0 || i == 1 && first == last {
			continue
		}
		a, b := text[:at], text[at+1:]
		all = append(all,
			join('&', begins("givenName", a), begins("sn", b)), join('&', begins("givenName", b), begins("sn", a)))
	}
	return all
}

// insideAttributes maps each class to the attributes that are searched for a text inside of words.
var insideAttributes = map[*Class][]string{
	Users: {
		"name", "displayName", "sAMAccountName", "givenName", "sn", "mail", "userPrincipalName",
		"physicalDeliveryOfficeName", "department", "title", "description",
	},
	Groups:    {"name", "displayName", "sAMAccountName", "mail", "description"},
	Computers: {"name", "dNSHostName", "description"},
}

// Inside returns an LDAP filter for the objects of a class that contain the text in an attribute
// that people know, or that have a phone number with its digits. It returns "" if the text is too
// short for that. The directory reads every object of the class for such a filter.
func (t *Text) Inside(class *Class) string {
	any := join('|')
	if utf8.RuneCountInString(t.account) >= minInside {
		for _, attr := range insideAttributes[class] {
			for _, spelling := range t.Spellings() {
				any.subs = append(any.subs, compare(attr, "=", "", spelling, ""))
			}
		}
	}
	if digits := t.Digits(); digits != "" && class == Users {
		parts := append(strings.Split(digits, ""), "")
		for _, attr := range []string{"telephoneNumber", "mobile"} {
			any.subs = append(any.subs, compare(attr, "=", append([]string{""}, parts...)...))
		}
	}
	if len(any.subs) == 0 {
		return ""
	}
	return strings.Join(any.segments(), "")
}

// Digits returns the last digits of a phone number, which identify it in any spelling: with or without a
// country code, with spaces, dashes, slashes or parentheses. It returns "" if the text is not a phone number.
// The filter of [Text.Inside] allows any text between the digits and so also matches other numbers. The
// caller must compare its hits with the digits.
func (t *Text) Digits() string {
	text := strings.ReplaceAll(t.text, "(0)", "")
	var digits []byte
	for i, r := range text {
		switch {
		case '0' <= r && r <= '9':
			digits = append(digits, byte(r))
		case r == '+' && i == 0, strings.ContainsRune(" -/().\u00a0\u2010\u2011\u2013", r):
		default:
			return ""
		}
	}
	found := strings.TrimLeft(string(digits), "0")
	if len(found) < minDigits {
		return ""
	}
	return found[max(0, len(found)-maxDigits):]
}
