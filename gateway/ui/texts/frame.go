package texts

// parts contains the parts of the table, one for each topic.
var parts = []table{
	forms, frame, words, times, signIn, objects, alerts, work, search, lists, home, tickets, gateway, errors,
	secrets, guards,
}

// frame are the texts around every page.
var frame = table{
	"frame.skip": {"Skip to the content", "Zum Inhalt springen"},
	"frame.menu": {"Menu", "Menü"},
	"frame.home": {"adgateway, home", "adgateway, Startseite"},
	"frame.find": {
		"Search people, groups, computers, OUs and DNS",
		"Personen, Gruppen, Computer, OUs und DNS suchen",
	},
	"frame.find.hint": {"Search everything", "Alles durchsuchen"},
	"frame.sandbox":   {"Sandbox", "Sandbox"},
	"frame.sandbox.what": {
		"A simulated domain: nothing real is read or changed",
		"Eine simulierte Domäne: nichts Echtes wird gelesen oder geändert",
	},
	"frame.account":      {"{who}, your account", "{who}, Ihr Konto"},
	"frame.look":         {"Appearance", "Darstellung"},
	"frame.look.system":  {"As the system has it", "Wie im System eingestellt"},
	"frame.look.light":   {"Light", "Hell"},
	"frame.look.dark":    {"Dark", "Dunkel"},
	"frame.zone":         {"Time zone", "Zeitzone"},
	"frame.zone.gateway": {"As the gateway has it ({zone})", "Wie beim Gateway eingestellt ({zone})"},
	"frame.zone.here":    {"this computer", "dieser Computer"},
	"frame.keys":         {"The key / goes to search", "Die Taste / führt zur Suche"},
	"frame.save":         {"Save", "Speichern"},
	"frame.signOut":      {"Sign out", "Abmelden"},
	"frame.nav":          {"Main", "Hauptmenü"},
	"frame.directory":    {"Directory", "Verzeichnis"},
	"frame.dns":          {"DNS", "DNS"},
	"frame.work":         {"Work", "Arbeit"},
	"frame.gateway":      {"Gateway", "Gateway"},
	"frame.help":         {"Help", "Hilfe"},
	"frame.docs":         {"API documentation", "API-Dokumentation"},
	"frame.means":        {"What this means", "Was das bedeutet"},
	"frame.request":      {"Request ID", "Anfrage-ID"},
	"frame.noRights":     {"no rights here", "hier ohne Rechte"},
	"frame.undo":         {"Undo", "Rückgängig machen"},
	"frame.goHome":       {"Go to the start page", "Zur Startseite"},

	"script.busy":      {"Working …", "Läuft …"},
	"script.slow":      {"The directory is slow …", "Das Verzeichnis ist langsam …"},
	"script.hidden":    {"The password is hidden now.", "Das Kennwort ist jetzt verborgen."},
	"script.matches":   {"Matches", "Treffer"},
	"script.found":     {"{n} matches, use the arrow keys", "{n} Treffer, mit den Pfeiltasten wählen"},
	"script.nothing":   {"No matches", "Keine Treffer"},
	"script.selected":  {"{n} selected", "{n} ausgewählt"},
	"script.copied":    {"Copied", "Kopiert"},
	"script.notCopied": {"Not copied", "Nicht kopiert"},
	"script.minutes":   {"{n} minutes", "{n} Minuten"},
	"script.seconds":   {"{n} seconds", "{n} Sekunden"},

	"language.en": {"English", "English"},
	"language.de": {"Deutsch", "Deutsch"},

	"page.status":     {"Status", "Status"},
	"page.changes":    {"Changes", "Änderungen"},
	"page.procedures": {"Procedures", "Abläufe"},
	"page.jobs":       {"Lists", "Listen"},
	"page.audit":      {"Audit", "Protokoll"},
	"page.people":     {"People", "Personen"},
	"page.groups":     {"Groups", "Gruppen"},
	"page.computers":  {"Computers", "Computer"},
}

// times contains the texts of relative times, past and future.
var times = table{
	"time.in":          {"in {span}", "in {span}"},
	"time.ago":         {"{span} ago", "vor {span}"},
	"time.moment":      {"less than a minute", "weniger als einer Minute"},
	"time.minutes":     {"{n} minutes", "{n} Minuten"},
	"time.minutes.one": {"{n} minute", "{n} Minute"},
	"time.hours":       {"{n} hours", "{n} Stunden"},
	"time.hours.one":   {"{n} hour", "{n} Stunde"},
	"time.days":        {"{n} days", "{n} Tagen"},
	"time.days.one":    {"{n} day", "{n} Tag"},
	"time.months":      {"{n} months", "{n} Monaten"},
	"time.months.one":  {"{n} month", "{n} Monat"},
	"time.years":       {"{n} years", "{n} Jahren"},
	"time.years.one":   {"{n} year", "{n} Jahr"},
}
