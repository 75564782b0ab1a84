package transport

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/gateway/ops"
)

// TestTheBestForm: the form in which a list is sent, by the lines of the header Accept.
func TestTheBestForm(t *testing.T) {
	const none, json, csv, lines = "", ops.MediaJSON, ops.MediaCSV, ops.MediaNDJSON
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"no header":                 {nil, json},
		"empty":                     {[]string{" , "}, json},
		"everything":                {[]string{"*/*"}, json},
		"of a client in Java":       {[]string{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"}, json},
		"of a browser":              {[]string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}, json},
		"CSV":                       {[]string{"text/csv"}, csv},
		"in another case":           {[]string{"Text/CSV"}, csv},
		"with parameters":           {[]string{"text/csv; charset=utf-8; header=present"}, csv},
		"with parameters of JSON":   {[]string{"application/json;charset=utf-8"}, json},
		"NDJSON":                    {[]string{"application/x-ndjson"}, lines},
		"a kind":                    {[]string{"text/*"}, csv},
		"a kind of two":             {[]string{"application/*"}, json},
		"a refused one of a kind":   {[]string{"application/*, application/json;q=0"}, lines},
		"weights":                   {[]string{"application/json;q=0.2, text/csv;q=0.8, application/x-ndjson;q=0.5"}, csv},
		"a weight of everything":    {[]string{"text/csv;q=0.5, */*;q=0.9"}, json},
		"the name before the range": {[]string{"*/*, text/csv"}, csv},
		"equal weights":             {[]string{"application/x-ndjson, text/csv, application/json"}, json},
		"several lines":             {[]string{"text/html", "text/csv;q=0.1"}, csv},
		"the precise range decides": {[]string{"text/*;q=0.9, text/csv;q=0.1, application/json;q=0.5"}, json},
		"refused":                   {[]string{"text/csv;q=0"}, none},
		"refused in digits":         {[]string{"*/*;q=0.000"}, none},
		"all but one are refused":   {[]string{"application/json;q=0, text/csv;q=0, */*"}, lines},
		"another type":              {[]string{"application/xml"}, none},
		"not a type":                {[]string{"csv"}, none},
		"not a header":              {[]string{";;=,/"}, none},
		"an unreadable weight":      {[]string{"text/csv;q=x"}, csv},
		"an unreadable parameter":   {[]string{"text/csv; charset="}, csv},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"Accept": c.lines}
			assert.Equal(t, c.want, acceptOf(header).best(json, csv, lines))
		})
	}
}

// TestParametersOfForms: a range with a parameter does not match a type in which the parameter has
// another value.
func TestParametersOfForms(t *testing.T) {
	const one, two = "application/a+json;version=1", "application/a+json;version=2"
	for accepted, want := range map[string]string{
		"application/a+json;version=1":           one,
		"application/a+json; VERSION=2":          two,
		"application/a+json":                     one,
		"application/a+json;other=x":             one,
		"application/a+json;version=3":           "",
		"application/a+json;version=3;q=1, */*":  one,
		"application/a+json;q=0.1, " + two:       two,
		"application/a+json, " + one + ";q=0.5":  two,
		"application/a+json;version=1;version=2": "",
	} {
		assert.Equal(t, want, acceptOf(http.Header{"Accept": {accepted}}).best(one, two), accepted)
	}
}

// TestNamedTypes: an image is sent only to clients that name it.
func TestNamedTypes(t *testing.T) {
	for accepted, want := range map[string]bool{
		"": false, "*/*": false, "image/*": true, "image/png": true, "image/jpeg": false,
		"text/html, image/png;q=0.1": true, "image/png;q=0": false, "image/*, image/png;q=0": false,
	} {
		assert.Equal(t, want, acceptOf(http.Header{"Accept": {accepted}}).names("image/png"), accepted)
	}
}
