package texts

// words are what pages say of values, by field and value.
var words = table{
	"word.enabled.true":   {"Enabled", "Aktiviert"},
	"word.enabled.false":  {"Disabled", "Deaktiviert"},
	"word.locked.true":    {"Locked out", "Gesperrt"},
	"word.lockedOut.true": {"Locked out", "Gesperrt"},
	"word.changePasswordNextLogon.true": {
		"Must be changed at the next logon",
		"Bei der nächsten Anmeldung zu ändern",
	},
	"word.primary.true": {"primary group", "primäre Gruppe"},

	"word.state.enabled.false":                {"Disabled", "Deaktiviert"},
	"word.state.lockedOut.true":               {"Locked", "Gesperrt"},
	"word.state.locked.true":                  {"Locked", "Gesperrt"},
	"word.state.accountExpired.true":          {"Expired", "Abgelaufen"},
	"word.state.changePasswordNextLogon.true": {"Must change password", "Muss Kennwort ändern"},
	"word.state.active":                       {"Active", "Aktiv"},
	"word.type.Security":                      {"Security", "Sicherheit"},
	"word.type.Distribution":                  {"Mail list", "Mailverteiler"},
	"word.type.user":                          {"Person", "Person"},
	"word.type.group":                         {"Group", "Gruppe"},
	"word.type.computer":                      {"Computer", "Computer"},
	"word.type.ou":                            {"Organizational unit", "Organisationseinheit"},
	"word.scope.Domain_Local":                 {"domain local", "lokal in der Domäne"},
	"word.scope.Global":                       {"global", "global"},
	"word.scope.Universal":                    {"universal", "universell"},
	"word.lookup.Forward":                     {"Names to addresses", "Namen zu Adressen"},
	"word.lookup.Reverse":                     {"Addresses to names", "Adressen zu Namen"},
	"word.zoneType.Primary":                   {"Primary", "Primär"},
	"word.zoneType.Secondary":                 {"Secondary", "Sekundär"},
	"word.zoneType.Stub":                      {"Stub", "Stub"},
	"word.zoneType.Forwarder":                 {"Forwarder", "Weiterleitung"},
	"word.dynamicUpdate.None":                 {"None", "Keine"},
	"word.dynamicUpdate.Secure":               {"Secure only", "Nur sichere"},
	"word.dynamicUpdate.NonsecureAndSecure":   {"Anybody", "Alle"},
	"word.paused.true":                        {"Paused", "Angehalten"},
	"word.readOnly.true":                      {"Read-only", "Nur lesbar"},
	"word.signed.true":                        {"Signed", "Signiert"},
	"word.restorable.true":                    {"Can be restored", "Wiederherstellbar"},
	"word.restorable.false":                   {"Cannot be restored", "Nicht wiederherstellbar"},
	"word.outcome.done":                       {"Done", "Erledigt"},
	"word.outcome.partial":                    {"In part", "Teilweise"},
	"word.outcome.unknown":                    {"Not known", "Nicht bekannt"},
	"word.protected.true":                     {"Yes", "Ja"},
	"word.protected.false":                    {"No", "Nein"},

	"word.plan.undo.full":    {"It can be undone.", "Das lässt sich rückgängig machen."},
	"word.plan.undo.partial": {"It can be undone in part.", "Das lässt sich teilweise rückgängig machen."},
	"word.plan.undo.restore": {
		"It can be restored from the Recycle Bin.", "Das lässt sich aus dem Papierkorb wiederherstellen.",
	},
	"word.plan.undo.none": {"It cannot be undone.", "Das lässt sich nicht rückgängig machen."},

	"word.check.state.passed":      {"Passed", "Bestanden"},
	"word.check.state.failed":      {"Failed", "Nicht bestanden"},
	"word.check.state.not_checked": {"Not checked", "Nicht geprüft"},

	"word.readiness.ok.true":       {"OK", "In Ordnung"},
	"word.readiness.ok.false":      {"Failed", "Gestört"},
	"word.readiness.degraded.true": {"Attention", "Achtung"},
	"word.readiness.verdict.down": {
		"Not ready: requests are not served.",
		"Nicht bereit: Anfragen werden nicht bedient.",
	},
	"word.readiness.verdict.degraded": {
		"Working, but something needs attention.",
		"In Betrieb, aber etwas braucht Aufmerksamkeit.",
	},
	"word.readiness.verdict.sound": {"Everything works.", "Alles funktioniert."},

	"word.job.state.ready":     {"ready", "bereit"},
	"word.job.state.held":      {"held", "wartet"},
	"word.job.state.running":   {"running", "läuft"},
	"word.job.state.paused":    {"paused", "angehalten"},
	"word.job.state.stopping":  {"stopping", "hält an"},
	"word.job.state.done":      {"done", "fertig"},
	"word.job.state.failed":    {"failed", "fehlgeschlagen"},
	"word.job.state.cancelled": {"cancelled", "abgebrochen"},
	"word.job.state.rejected":  {"rejected", "abgelehnt"},

	"word.job.why.notBefore": {"It begins at its time.", "Sie beginnt zu ihrer Zeit."},
	"word.job.why.caller":    {"Other jobs run first.", "Andere Listen laufen zuerst."},
	"word.job.why.budget": {
		"An hourly limit of its submitter is reached. It goes on by itself.",
		"Ein Stundenlimit des Einreichers ist erreicht. Es geht von selbst weiter.",
	},
	"word.job.why.credential": {
		"Its submitter may not do this any more: the account is disabled, or has no role with this right.",
		"Der Einreicher darf das nicht mehr: Das Konto ist deaktiviert oder hat keine Rolle mit " +
			"diesem Recht.",
	},
	"word.job.why.engine": {
		"The store of the cluster cannot be written at the moment. It goes on by itself.",
		"Der Speicher des Clusters ist gerade nicht beschreibbar. Es geht von selbst weiter.",
	},
	"word.job.why.lane": {
		"The directory cannot be asked at the moment. It goes on by itself.",
		"Das Verzeichnis kann gerade nicht gefragt werden. Es geht von selbst weiter.",
	},
	"word.job.why.errors": {"Too many items failed.", "Zu viele Zeilen sind fehlgeschlagen."},
	"word.job.why.unknown": {
		"It is not known whether an item was done.",
		"Ob eine Zeile ausgeführt wurde, ist nicht bekannt.",
	},

	"word.never":    {"never", "nie"},
	"word.notKnown": {"not known", "nicht bekannt"},
	"word.atOnce":   {"at once", "sofort"},
	"word.none":     {"none", "keine"},
	"word.yes":      {"yes", "ja"},
	"word.no":       {"no", "nein"},

	"logon.cannot": {"Cannot log on", "Kann sich nicht anmelden"},
	"logon.hours":  {"Cannot log on at this hour", "Kann sich zu dieser Stunde nicht anmelden"},
	"logon.change": {
		"Can log on only after changing the password – not over VPN, mail or Wi-Fi",
		"Kann sich erst nach Ändern des Kennworts anmelden – nicht über VPN, Mail oder WLAN",
	},
	"logon.smartcard": {"Can log on only with a smart card", "Kann sich nur mit Smartcard anmelden"},
	"logon.workstations": {
		"Can log on only at some computers",
		"Kann sich nur an manchen Computern anmelden",
	},
	"logon.unknown": {
		"Can log on, as far as that can be read", "Kann sich anmelden, soweit sich das lesen lässt",
	},
	"logon.ok":    {"Can log on", "Kann sich anmelden"},
	"logon.maybe": {"Can log on, with a restriction", "Kann sich mit einer Einschränkung anmelden"},
}
