package texts

// objects contains the texts of the pages of objects.
var objects = table{
	"fact.account":            {"Account", "Konto"},
	"fact.mail":               {"Mail", "Mail"},
	"fact.phone":              {"Phone", "Telefon"},
	"fact.mobile":             {"Mobile", "Mobil"},
	"fact.office":             {"Office", "Büro"},
	"fact.company":            {"Company", "Firma"},
	"fact.manager":            {"Manager", "Vorgesetzte"},
	"fact.description":        {"Description", "Beschreibung"},
	"fact.organizationalUnit": {"Organizational unit", "Organisationseinheit"},
	"fact.passwordSet":        {"Password set", "Kennwort gesetzt"},
	"fact.lastResetHere":      {"Last reset here", "Hier zuletzt zurückgesetzt"},
	"fact.passwordExpires":    {"Password expires", "Kennwort läuft ab"},
	"fact.lastWrongPassword":  {"Last wrong password", "Letztes falsches Kennwort"},
	"fact.accountExpires":     {"Account expires", "Konto läuft ab"},
	"fact.created":            {"Created", "Angelegt"},
	"fact.accountName":        {"Account name", "Kontoname"},
	"fact.kind":               {"Kind", "Art"},
	"fact.managedBy":          {"Managed by", "Verwaltet von"},
	"fact.system":             {"System", "System"},
	"fact.lastLogonAbout":     {"Last logon (approx.)", "Letzte Anmeldung (ca.)"},
	"fact.length":             {"Length", "Länge"},
	"fact.notAgain":           {"Not again", "Nicht wieder"},
	"fact.locksOut":           {"Locks out", "Sperrt"},
	"fact.by":                 {"by {who}", "von {who}"},

	"policy.length": {"at least {n}", "mindestens {n}"},
	"policy.length.mixed": {
		"at least {n}, letters, digits and signs mixed",
		"mindestens {n}, Buchstaben, Ziffern und Zeichen gemischt",
	},
	"policy.history": {"the last {n}", "die letzten {n}"},
	"policy.lockout": {
		"after {n} wrong ones within {minutes} minutes",
		"nach {n} falschen in {minutes} Minuten",
	},

	"field.enabled":                 {"Account enabled", "Konto aktiviert"},
	"field.lockedOut":               {"Locked out", "Gesperrt"},
	"field.accountExpires":          {"Account expires", "Konto läuft ab"},
	"field.password":                {"Password", "Kennwort"},
	"field.member":                  {"Members", "Mitglieder"},
	"field.changePasswordNextLogon": {"Password must be changed", "Kennwort ist zu ändern"},
	"field.ouPath":                  {"Organizational unit", "Organisationseinheit"},
	"field.path":                    {"Organizational unit", "Organisationseinheit"},
}
