package say

import (
	"strings"
	"time"

	"adgateway/gateway/ui/texts"
)

// Ago describes the time between now and a time in the past or future.
func Ago(text string) texts.Text {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil
	}
	return texts.Ago(at, time.Now())
}

// Moment shows a time to the minute in the reader's zone.
func Moment(reader texts.Reader, text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return texts.At(at.UTC()).For(reader)
}

// Midnight returns the beginning of a time's day, in the same zone.
func Midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// Day shows a time in short form: the hour if it is today, otherwise the day. The zone is
// the location of now.
func Day(text string, now time.Time) texts.Text {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return texts.Raw(text)
	}
	at = at.In(now.Location())
	switch today := Midnight(now); {
	case !at.Before(today) && at.Before(today.AddDate(0, 0, 1)):
		return texts.Of("time.today", "hour", at.Format("15:04"))
	case !at.Before(today.AddDate(0, 0, -1)) && at.Before(today):
		return texts.Of("time.yesterday", "hour", at.Format("15:04"))
	}
	return texts.Day(at)
}

// Spell spells a password letter by letter.
func Spell(password string) string {
	var words []string
	for _, r := range password {
		switch {
		case r >= 'a' && r <= 'z':
			words = append(words, "small "+alphabet[r-'a'])
		case r >= 'A' && r <= 'Z':
			words = append(words, "CAPITAL "+strings.ToUpper(alphabet[r-'A']))
		case signs[r] != "":
			words = append(words, signs[r])
		default:
			words = append(words, string(r))
		}
	}
	return strings.Join(words, " · ")
}

var alphabet = strings.Fields("alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo " +
	"lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey x-ray yankee zulu")

var signs = map[rune]string{
	'0': "zero", '1': "one", '2': "two", '3': "three", '4': "four", '5': "five", '6': "six", '7': "seven", '8': "eight", '9': "nine",
	'-': "hyphen", '_': "underscore", '.': "full stop", ',': "comma", '!': "exclamation mark", '?': "question mark", '#': "hash",
	'+': "plus", '=': "equals", '*': "asterisk", '%': "percent", '&': "ampersand", '@': "at", '$': "dollar", '/': "slash", ':': "colon", ';': "semicolon",
	'(': "open bracket", ')': "close bracket",
}

// Label returns the name of a record's field.
func Label(field string) texts.Text {
	if key := "field." + field; texts.Has(key) {
		return texts.Of(key)
	}
	return texts.Raw(field)
}
