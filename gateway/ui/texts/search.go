package texts

// search are the texts of the search.
var search = table{
	"search.title":     {"{query} – {what}", "{query} – {what}"},
	"search.forbidden": {"Your role does not include {what}.", "Ihre Rolle umfasst {what} nicht."},
	"search.example":   {"For example:", "Zum Beispiel:"},
	"search.example.part": {
		"a part of a name from its beginning", "ein Teil eines Namens von dessen Anfang",
	},
	"search.example.both": {
		"first and last name in any order",
		"Vor- und Nachname in beliebiger Reihenfolge",
	},
	"search.example.logon": {"a logon name or mail address", "ein Anmeldename oder eine Mailadresse"},
	"search.looked": {
		"We looked at the start of names, logon names, mail addresses and offices.",
		"Wir haben am Anfang von Namen, Anmeldenamen, Mailadressen und Büros gesucht.",
	},
	"object.gone": {
		"This does not exist any more, or your role does not show it.",
		"Das gibt es nicht mehr, oder Ihre Rolle zeigt es nicht.",
	},
}
