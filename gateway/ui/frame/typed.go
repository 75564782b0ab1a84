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

// mostAddress limits the length of an address with the values of a form.
const mostAddress = 6 << 10

const (
	TokenName = "form"
	TypedName = "typed" // query parameter that marks the address of a form that was filled in
)
