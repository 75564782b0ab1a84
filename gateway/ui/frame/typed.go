package frame

import (
	"maps"
	"net/url"

	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/say"
)

// TypedAddress returns the address of a form with the typed values, or without them if the address would be
// too long.
func TypedAddress(f *form.Form, typed url.Values) string {
	page := say.Address(say.DoPath, f.Op.ID)
	kept := WithoutSecrets(f, typed)
	kept.Set(TypedName, "1")
	if text := kept.Encode(); len(text) < mostAddress {
		return page + "?" + text
	}
	return page
}

// WithoutSecrets returns the typed values of a form without secrets, images and the form token.
func WithoutSecrets(f *form.Form, typed url.Values) url.Values {
	kept := maps.Clone(typed)
	kept.Del(TokenName)
	for i := range f.Fields {
		if field := &f.Fields[i]; field.Control == form.Secret || field.Control == form.Image {
			kept.Del(field.Name)
		}
	}
	return kept
}

// The form for lists.
const (
	listPath = "jobs"
	listName = "list" // name of the field that contains the text of the list
)

// listAddress returns the address of the form for lists, filled with the typed values. It omits the list if
// the list may contain secrets, or if the address would be too long.
func listAddress(typed url.Values) string {
	page, kept := say.Address(listPath), url.Values{TypedName: {"1"}}
	for _, name := range []string{"operation", "name", "mode"} {
		kept.Set(name, typed.Get(name))
	}
	list := url.Values{listName: {typed.Get(listName)}}
	both := page + "?" + list.Encode() + "&" + kept.Encode()
	if len(both) < mostAddress && !form.MayHaveSecrets([]byte(typed.Get(listName))) {
		return both
	}
	if text := kept.Encode(); len(text) < mostAddress {
		return page + "?" + text
	}
	return page
}

// mostAddress limits the length of an address with the values of a form.
const mostAddress = 6 << 10

const (
	TokenName = "form"
	TypedName = "typed" // query parameter that marks the address of a form that was filled in
)
