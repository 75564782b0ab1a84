package schema

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// JobID is the id of a job, in the format of [adgateway/gateway/jobs].
var JobID = idKind("jb_", "must be the ID of a job, as in the answer to its submission",
	"jb_019ab3f0-0000-7000-8000-000000000000")

// ResultKey is an X25519 public key in base64. Generated secrets are sealed with it.
var ResultKey Kind = &checkedKind{
	base: base{"string"}, limit: 64,
	check: func(s string) (string, *FieldError) {
		if key, err := base64.StdEncoding.DecodeString(s); err != nil || len(key) != resultKeyLength {
			return "", invalid("must be a public key of X25519: 32 bytes in base64")
		}
		return s, nil
	},
	doc: Doc{Type: "string", MaxLength: 44, Text: "X25519 public key: 32 bytes in base64.",
		Example: "ZGVtbyBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyAuLi4="},
}

const resultKeyLength = 32

// Columns contains the parameters of a list's columns, separated by commas. An empty name stands for a column
// that is not a parameter. [ColumnList] splits the text.
var Columns Kind = &checkedKind{
	base: base{"string"}, limit: mostColumns * (longestColumn + 1), check: checkColumns,
	doc: Doc{Type: "string", MaxLength: mostColumns * (longestColumn + 1), Example: "Username,,City",
		Text: "Parameter names, one for each column of the list, separated by commas; leave out the name of a " +
			"column that is not a parameter."},
}

const (
	mostColumns   = 200
	longestColumn = 100 // characters of a name
)

func checkColumns(s string) (string, *FieldError) {
	names := ColumnList(s)
	if len(names) > mostColumns {
		return "", invalid("names more than %d columns", mostColumns)
	}
	for i, name := range names {
		switch {
		case utf8.RuneCountInString(name) > longestColumn:
			return "", invalid("has a name of more than %d characters", longestColumn)
		case name != "" && slices.ContainsFunc(names[:i], func(other string) bool {
			return strings.EqualFold(other, name)
		}):
			return "", invalid("gives column %d the name of an earlier column", i+1)
		}
	}
	return strings.Join(names, ","), nil
}

// ColumnList returns the names in a value of [Columns].
func ColumnList(text string) []string {
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}
