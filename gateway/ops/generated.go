package ops

import (
	"crypto/rand"
	_ "embed"
	"fmt"
	"math/big"
	"strings"

	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Generated is a secret that the gateway generated because the request had none.
// It is shown once, in the answer. Printing it does not reveal the value.
type Generated struct {
	Member string // member of the record that shows the secret, in addition to the shape's fields
	value  string
	arg    string        // argument of the script that has it
	random func() string // generates another value
}

// Reveal returns the secret, to put it into the answer.
func (m *Generated) Reveal() string { return m.value }

func (*Generated) String() string { return "***" }

// GoString keeps the value out of %#v.
func (*Generated) GoString() string { return "***" }

// generate sets the parameter to a random secret.
func (b *Bound) generate(p *Param) {
	b.Generated = &Generated{Member: p.Generated, arg: p.arg(), random: randomPassword}
	if b.Text(GenerateName) == inWords {
		b.Generated.random = wordPassword
	}
	b.Regenerate()
}

// Regenerate replaces the generated secret with another one, and returns false if there is none. It is needed
// because the directory refuses a password that happens to contain a part of the account's name.
func (b *Bound) Regenerate() bool {
	g := b.Generated
	if g == nil {
		return false
	}
	g.value = g.random()
	b.Args[g.arg] = ps.Secret(g.value)
	return true
}

// GenerateName is the parameter that selects how a password is generated. It comes before the
// password parameter.
const GenerateName = "Generate"

// How passwords are generated.
const (
	inCharacters = "characters"
	inWords      = "words"
)

var generate = Param{
	Name: GenerateName, Kind: schema.OneOf("Not case-sensitive.", inCharacters, inWords), Unsent: true,
	Implied: inCharacters, Example: inWords,
	Doc: "Type of the generated password: 24 random characters, or words and digits, which are easy to read " +
		"aloud.",
}

//go:embed words.txt
var wordList string

var words = strings.Fields(wordList)

// A password made of words has at least 60 bits, upper and lower case letters, digits and hyphens.
const (
	wordCount  = 5
	digitCount = 4
)

// wordPassword generates a password that can be read out, such as
// "copper-lantern-Meadow-river-drum-4271".
func wordPassword() string {
	parts := make([]string, wordCount, wordCount+1)
	for i := range parts {
		parts[i] = words[random(len(words))]
	}
	capital := random(wordCount)
	parts[capital] = strings.ToUpper(parts[capital][:1]) + parts[capital][1:]
	number := random(10_000)
	return strings.Join(append(parts, fmt.Sprintf("%0*d", digitCount, number)), "-")
}

const passwordLength = 24

// passwordClasses are the four character classes of a password, without characters
// that look alike.
var passwordClasses = [...]string{
	"ABCDEFGHJKLMNPQRSTUVWXYZ",
	"abcdefghijkmnopqrstuvwxyz",
	"23456789",
	"!#$%*+-=?@_~",
}

// randomPassword generates a password that has every character class, at random positions.
func randomPassword() string {
	all := ""
	password := make([]byte, 0, passwordLength)
	for _, class := range passwordClasses {
		all += class
		password = append(password, class[random(len(class))])
	}
	for len(password) < passwordLength {
		password = append(password, all[random(len(all))])
	}
	for i := len(password) - 1; i > 0; i-- {
		j := random(i + 1)
		password[i], password[j] = password[j], password[i]
	}
	return string(password)
}

// random returns a uniformly distributed number from 0 to n-1.
func random(n int) int {
	number, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		panic(err) // crypto/rand.Reader does not fail
	}
	return int(number.Int64())
}

// generated checks a parameter whose value can be generated.
func (c *checker) generated(op *Operation, p *Param, fault func(string, ...any)) {
	if p.Generated == "" {
		return
	}
	if !p.Kind.Secret() || len(p.Kind.Parts()) != 1 || p.Required || p.Default != "" || op.Reply.Mark != Single {
		fault("parameter %s is generated, but is not an optional secret of an operation with one record", p.Name)
	}
	if op.Reply.Shape == nil {
		return
	}
	for _, field := range op.Reply.Shape.Fields {
		if field.Name == p.Generated {
			fault("parameter %s is shown as %s, which is a field of the record", p.Name, p.Generated)
		}
	}
}
