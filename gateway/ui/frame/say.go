package frame

import (
	"time"

	"adgateway/gateway/ui/texts"
)

// Lang returns the language of the page.
func (c *Visit) Lang() texts.Lang { return c.LookOf(c.R).Lang }

// Say returns a text in the page's language, for texts that are stored or sent.
func (c *Visit) Say(key string, pairs ...any) string { return texts.Of(key, pairs...).In(c.Lang()) }

// Now returns the current time in the reader's zone.
func (c *Visit) Now() time.Time { return time.Now().In(c.LookOf(c.R).Zone) }
