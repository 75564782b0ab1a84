package frame

import (
	"time"

	"adgateway/gateway/ui/texts"
)

// Lang returns the language of the page.
func (c *Visit) Lang() texts.Lang { return c.LookOf(c.R).Lang }

// Say says a text of the table in the language of the page, for what is kept or sent as text.
func (c *Visit) Say(key string, pairs ...any) string { return texts.Of(key, pairs...).In(c.Lang()) }

// Now returns the present time in the zone of the reader.
func (c *Visit) Now() time.Time { return time.Now().In(c.LookOf(c.R).Zone) }
