package filter

import (
	"fmt"
	"strconv"
)

// numberForm is a whole number from 0 to most.
type numberForm struct{ most int }

func (numberForm) about() string { return "a whole number" }

func (f numberForm) parse(_ Op, t *token) (value, string) {
	n, err := strconv.ParseInt(t.raw, 10, 64)
	if t.kind != tokenNumber || err != nil || n < 0 || n > int64(f.most) {
		return value{}, fmt.Sprintf("needs a whole number from 0 to %d, without quotes", f.most)
	}
	return value{text: strconv.FormatInt(n, 10)}, ""
}

func (f numberForm) compile(n *node, _ moment) (*clause, []string) {
	attr, s := n.field.attr, n.value.text
	number, _ := strconv.ParseInt(s, 10, 64) // parse has checked it
	switch n.op {
	case Present:
		return present(attr), nil
	case NotEqual:
		return negation(compare(attr, "=", s)), nil
	case Greater: // LDAP has no > and <
		return compare(attr, ">=", strconv.FormatInt(number+1, 10)), nil
	case GreaterEqual:
		return compare(attr, ">=", s), nil
	case Less:
		return compare(attr, "<=", strconv.FormatInt(number-1, 10)), nil
	case LessEqual:
		return compare(attr, "<=", s), nil
	default:
		return compare(attr, "=", s), nil
	}
}
