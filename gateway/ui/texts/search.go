package texts

// search are the texts of the search.
var search = table{
	"search.title":     {"{query} – {what}", "{query} – {what}"},
	"search.forbidden": {"Your role does not include {what}.", "Ihre Rolle umfasst {what} nicht."},
	"search.example":   {"For example:", "Zum Beispiel:"},
	"search.example.part": {
		"a part of a name from its beginning", "ein Teil eines Namens von dessen Anfang",
	},
	"search.example.both":  {"first and last name in any order", "Vor- und Nachname in beliebiger Reihenfolge"},
	"search.example.logon": {"a logon name or mail address", "ein Anmeldename oder eine Mailadresse"},
	"search.looked": {
		"We looked at the start of names, logon names, mail addresses and offices.",
		"Wir haben am Anfang von Namen, Anmeldenamen, Mailadressen und Büros gesucht.",
	},
	"search.other":            {"Search {what}", "{what} durchsuchen"},
	"search.nothing.user":     {"No person was found for “{query}”.", "Zu „{query}“ wurde keine Person gefunden."},
	"search.nothing.group":    {"No group was found for “{query}”.", "Zu „{query}“ wurde keine Gruppe gefunden."},
	"search.nothing.computer": {"No computer was found for “{query}”.", "Zu „{query}“ wurde kein Computer gefunden."},
	"search.find.user":        {"Find a person", "Eine Person suchen"},
	"search.find.group":       {"Find a group", "Eine Gruppe suchen"},
	"search.find.computer":    {"Find a computer", "Einen Computer suchen"},
	"search.hint.user": {
		"Name, logon name, mail address, office or employee number", "Name, Anmeldename, Mailadresse, Büro oder Personalnummer",
	},
	"search.hint.group":    {"Name or mail address", "Name oder Mailadresse"},
	"search.hint.computer": {"Name of the computer", "Name des Computers"},
	"object.gone":          {"This does not exist any more, or your role does not show it.", "Das gibt es nicht mehr, oder Ihre Rolle zeigt es nicht."},
}
