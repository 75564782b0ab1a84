package ui

import "adgateway/gateway/ui/texts"

// lang returns the language of the page.
func (c *visit) lang() texts.Lang { return c.lookOf(c.r).lang }

// say says a text of the table in the language of the page, for what is kept or sent as text.
func (c *visit) say(key string, pairs ...any) string { return texts.Of(key, pairs...).In(c.lang()) }
