package ui

import (
	"adgateway/gateway/ui/form"
	"maps"
	"net/url"
)

// typedAddress returns the address of a form with what was typed, unless that is too long for one.
func typedAddress(f *form.Form, typed url.Values) string {
	page := address(doPath, f.Op.ID)
	kept := withoutSecrets(f, typed)
	kept.Set(typedName, "1")
	if text := kept.Encode(); len(text) < mostAddress {
		return page + "?" + text
	}
	return page
}

// withoutSecrets returns what was typed into a form, but for its secrets, images and token.
func withoutSecrets(f *form.Form, typed url.Values) url.Values {
	kept := maps.Clone(typed)
	kept.Del(tokenName)
	for i := range f.Fields {
		if field := &f.Fields[i]; field.Control == form.Secret || field.Control == form.Image {
			kept.Del(field.Name)
		}
	}
	return kept
}

// mostAddress limits an address with the values of a form.
const mostAddress = 6 << 10

const (
	tokenName = "form"
	typedName = "typed" // of an address of a form that was filled in
)
