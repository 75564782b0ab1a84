package ops

import (
	"crypto/rand"
	"math/big"

	"adgateway/ps"
)

// Made is a secret that the gateway made because the request had none. It is
// shown once, in the answer; it prints without its value.
type Made struct {
	Member string // of the record, besides its fields
	value  string
}

// Reveal is the secret itself, for the answer.
func (m *Made) Reveal() string { return m.value }

func (*Made) String() string { return "***" }

// GoString keeps the value out of %#v.
func (*Made) GoString() string { return "***" }

// make gives the parameter a secret of the gateway's own.
func (b *Bound) make(p *Param) {
	b.Made = &Made{Member: p.Made, value: randomPassword()}
	b.Args[p.arg()] = ps.Secret(b.Made.value)
}

const passwordLength = 24

// passwordClasses are the four kinds of characters of a password, without those
// that are taken for another in print.
var passwordClasses = [...]string{
	"ABCDEFGHJKLMNPQRSTUVWXYZ",
	"abcdefghijkmnopqrstuvwxyz",
	"23456789",
	"!#$%*+-=?@_~",
}

// randomPassword makes a password with every class in it, at random places.
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

// random is a number from 0 to n-1, each as likely.
func random(n int) int {
	number, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		panic(err) // the reader of crypto/rand does not fail
	}
	return int(number.Int64())
}

// made holds a parameter that is made against its row.
func (c *checker) made(op *Operation, p *Param, fault func(string, ...any)) {
	if p.Made == "" {
		return
	}
	if !p.Kind.Secret() || len(p.Kind.Parts()) != 1 || p.Required || p.Default != "" || op.Reply.Mark != Single {
		fault("parameter %s is made, but is no optional secret of an operation with one record", p.Name)
	}
	if op.Reply.Shape == nil {
		return
	}
	for _, field := range op.Reply.Shape.Fields {
		if field.Name == p.Made {
			fault("parameter %s is shown as %s, which is a field of the record", p.Name, p.Made)
		}
	}
}
