package texts

import "regexp"

// errors contains the texts for errors and warnings by code. German pages always use them. English pages show
// the API's message, which also names the object, unless it contains terms of the API.
var errors = table{
	"error.partial":         {"Not everything was done.", "Nicht alles wurde ausgeführt."},
	"error.invalid_request": {"A value is not allowed.", "Ein Wert ist nicht zulässig."},
	"error.unauthenticated": {"You are not signed in.", "Sie sind nicht angemeldet."},
	"error.forbidden":       {"Your role does not allow it.", "Ihre Rolle erlaubt das nicht."},
	"error.limit": {
		"A limit of your role is reached.",
		"Eine Grenze Ihrer Rolle ist erreicht.",
	},
	"error.directory_denied": {
		"The directory refuses it.",
		"Das Verzeichnis verweigert es dem Gateway.",
	},
	"error.not_found": {
		"It is not there, or outside your limits.",
		"Das gibt es nicht, oder es liegt außerhalb Ihrer Grenzen.",
	},
	"error.method_not_allowed": {"That is not possible here.", "Das geht hier nicht."},
	"error.not_acceptable":     {"That form is not offered.", "Diese Form gibt es nicht."},
	"error.not_supported":      {"The gateway cannot do that.", "Das kann das Gateway nicht."},
	"error.token_mismatch": {
		"The list has begun anew.",
		"Die Liste hat neu begonnen: Öffnen Sie sie noch einmal.",
	},
	"error.in_progress": {
		"It is being done at the moment.",
		"Das wird gerade ausgeführt. Warten Sie einen Moment.",
	},
	"error.outcome_unknown": {
		"The outcome is not known.",
		"Ob es ausgeführt wurde, ist nicht bekannt. Sehen Sie nach, bevor Sie es noch einmal versuchen.",
	},
	"error.name_pending": {
		"The name is being given.",
		"Der Name wird gerade vergeben. Versuchen Sie es gleich noch einmal.",
	},
	"error.key_reused": {
		"It was sent before with other values.",
		"Das wurde schon mit anderen Werten gesendet.",
	},
	"error.drifted": {
		"It was changed meanwhile, so nothing was done.",
		"Inzwischen wurde es geändert, darum wurde nichts ausgeführt.",
	},
	"error.precondition_failed": {
		"It was changed meanwhile.",
		"Inzwischen wurde es geändert. Nichts wurde ausgeführt.",
	},
	"error.precondition_required": {
		"A preview is needed first.",
		"Dafür ist zuerst eine Vorschau nötig.",
	},
	"error.plan_used": {"The preview was used.", "Diese Vorschau wurde schon ausgeführt."},
	"error.plan_mismatch": {
		"The preview is of something else.",
		"Die Vorschau gehört zu etwas anderem.",
	},
	"error.expired": {
		"It is no longer kept.",
		"Das ist nicht mehr da. Beginnen Sie noch einmal.",
	},
	"error.cursor_expired": {
		"The list has gone on.",
		"Die Liste ist weitergegangen: Öffnen Sie sie noch einmal.",
	},
	"error.job_state": {
		"The list is not in the right state.",
		"In diesem Zustand der Liste geht das nicht.",
	},
	"error.job_too_large": {"The list is too long.", "Die Liste ist zu lang: Teilen Sie sie auf."},
	"error.poison": {
		"It has failed again and again.",
		"Das ist wiederholt fehlgeschlagen und wird nicht mehr versucht.",
	},
	"error.parent_deleted": {
		"What held it is deleted.",
		"Die Organisationseinheit dazu ist gelöscht: Stellen Sie zuerst diese wieder her.",
	},
	"error.not_undoable":           {"It cannot be undone.", "Das lässt sich nicht rückgängig machen."},
	"error.too_large":              {"It is too large.", "Das ist zu groß."},
	"error.unsupported_media_type": {"The file is of another kind.", "Diese Art von Datei geht nicht."},
	"error.rate_limited":           {"Too much at once.", "Zu viel auf einmal. Warten Sie einen Moment."},
	"error.conflict": {
		"There is one already, or it contradicts.",
		"Das gibt es schon, oder es widerspricht etwas anderem.",
	},
	"error.protected": {"It is protected.", "Das ist geschützt."},
	"error.not_empty": {"It is not empty.", "Darin ist noch etwas."},
	"error.ambiguous": {
		"Several have this name.",
		"Mehrere heißen so. Nennen Sie es genauer.",
	},
	"error.too_many": {"There are too many.", "Das sind zu viele."},
	"error.policy": {
		"A policy of the domain forbids it.",
		"Eine Richtlinie der Domäne erlaubt das nicht.",
	},
	"error.unprocessable": {
		"It cannot be done so.",
		"So geht es nicht: Ein Wert passt nicht zu dem, was im Verzeichnis steht.",
	},
	"error.internal": {
		"Something is wrong in the gateway.",
		"Im Gateway ist ein Fehler aufgetreten.",
	},
	"error.backend": {
		"The directory has answered with an error.",
		"Das Verzeichnis hat mit einem Fehler geantwortet.",
	},
	"error.overloaded": {
		"There is too much to do.",
		"Gerade ist zu viel zu tun. Versuchen Sie es gleich noch einmal.",
	},
	"error.unavailable": {
		"The directory cannot be reached.",
		"Das Verzeichnis ist gerade nicht erreichbar. Der Status sagt, warum.",
	},
	"error.store_lost": {
		"The store of the gateway is away.",
		"Der Speicher des Gateways ist gerade nicht erreichbar.",
	},
	"error.store_rewound": {
		"The store is older than it was.",
		"Der Speicher des Gateways ist älter als zuvor.",
	},
	"error.newer_peer": {
		"Another gateway is newer.",
		"Ein anderes Gateway ist neuer: Dieses muss aktualisiert werden.",
	},
	"error.not_leader": {
		"Another gateway leads.",
		"Ein anderes Gateway führt. Versuchen Sie es gleich noch einmal.",
	},
	"error.behind": {
		"The gateway is behind.",
		"Das Gateway ist noch nicht auf dem neuesten Stand.",
	},
	"error.starting": {"The gateway is starting.", "Das Gateway startet gerade."},
	"error.timeout":  {"It took too long.", "Das hat zu lange gedauert."},

	"warning.bin_off": {
		"The Recycle Bin is off.",
		"Der Papierkorb der Domäne ist aus: Gelöschtes lässt sich nicht ganz wiederherstellen.",
	},
	"warning.more": {"There are more.", "Es gibt noch mehr."},
	"warning.policy_unreadable": {
		"A policy cannot be read.",
		"Eine Kennwortrichtlinie ist nicht lesbar.",
	},
	"warning.log_unreadable": {"A log cannot be read.", "Ein Ereignisprotokoll ist nicht lesbar."},
	"warning.controller_unreached": {
		"A domain controller cannot be reached.",
		"Ein Domänencontroller ist nicht erreichbar.",
	},
	"warning.zone_unreadable": {"A zone cannot be read.", "Eine Zone ist nicht lesbar."},
	"warning.disabled":        {"The account is disabled.", "Das Konto ist deaktiviert."},
	"warning.truncated":       {"Not everything is shown.", "Nicht alles wird gezeigt."},
	"warning.not_read_back": {
		"What was changed could not be read again.",
		"Was geändert wurde, ließ sich nicht noch einmal lesen.",
	},
	"warning.never_expires": {
		"The password never expires, so its change was not demanded.",
		"Das Kennwort läuft nie ab. Darum wird keine Änderung verlangt.",
	},
	"warning.no_catalog": {
		"Some members are not known here.",
		"Mitglieder aus anderen Domänen sind hier nicht bekannt.",
	},
	"warning.no_addresses": {
		"The zone does not keep the addresses of the name server.",
		"Die Zone führt die Adressen dieses Namensservers nicht.",
	},
	"warning.no_ptr": {
		"There is no PTR record that leads back to the name.",
		"Es gibt keinen PTR-Eintrag, der zu diesem Namen zurückführt.",
	},
	"warning.ptr_restored": {
		"The PTR record of the address was put back.",
		"Der PTR-Eintrag der Adresse wurde wiederhergestellt.",
	},
	"warning.ttl_differs": {
		"The records have different times to live.",
		"Die Einträge sind verschieden lang gültig. Gezeigt wird die kürzeste Gültigkeit.",
	},
	"warning.text_partly_shown": {
		"Windows shows a part of the text.",
		"Windows zeigt nur den Anfang dieses Textes.",
	},
	"warning.serial_unreadable": {
		"The serial number of the zone cannot be read.",
		"Die Seriennummer der Zone ist nicht lesbar.",
	},
	"warning.no_scavenging": {
		"The server removes no old records.",
		"Der Server entfernt keine alten Einträge, solange das dort nicht eingeschaltet ist.",
	},
	"warning.unreadable": {
		"The settings of the server cannot be read.",
		"Die Einstellungen des Servers sind nicht lesbar.",
	},
	"warning.not_counted": {
		"The records cannot be counted.", "Die Einträge der Zone sind nicht zählbar.",
	},
	"warning.not_removed": {
		"A record stays.", "Ein Eintrag bleibt bestehen.",
	},
	"warning.not_listed": {
		"The other domain controllers cannot be listed.",
		"Die anderen Domänencontroller sind nicht abrufbar.",
	},
	"warning.not_searched": {
		"A part of the tree was not searched.", "Ein Teil des Baums wurde nicht durchsucht.",
	},
	"warning.no_host_name": {
		"A domain controller has no DNS name.", "Ein Domänencontroller hat keinen DNS-Namen.",
	},
	"warning.partial": {
		"This was not undone.", "Das wurde nicht zurückgenommen.",
	},
	"warning.upn_kept": {
		"The UPN was kept.", "Der UPN bleibt, weil er nicht zum alten Anmeldenamen gehörte.",
	},
	"warning.upn_odd": {
		"Microsoft Entra refuses the UPN.",
		"Microsoft Entra nimmt diesen UPN nicht an; mit ihm meldet sich dort niemand an.",
	},
	"warning.no_history": {
		"Earlier passwords are not kept.", "Frühere Kennwörter werden nicht aufbewahrt.",
	},
	"warning.not_decrypted": {
		"An earlier password is left out.",
		"Ein früheres Kennwort ist für andere verschlüsselt und fehlt hier.",
	},
	"warning.slow_filter":         {"The filter is slow.", "Dieser Filter ist langsam."},
	"warning.history_unavailable": {"It is not in the history.", "Die Änderung steht nicht im Verlauf."},
	"verdict.disabled":            {"The account is disabled.", "Das Konto ist deaktiviert."},
	"verdict.expired":             {"The account has expired.", "Das Konto ist abgelaufen."},
	"verdict.locked":              {"The account is locked out.", "Das Konto ist gesperrt."},
	"verdict.unknown": {
		"A lockout cannot be read.",
		"Ob das Konto gesperrt ist, ist nicht lesbar.",
	},
	"verdict.must_change": {
		"The password must be changed.",
		"Das Kennwort muss bei der nächsten Anmeldung geändert werden, was nicht überall geht.",
	},
	"verdict.password_expired": {"The password has expired.", "Das Kennwort ist abgelaufen."},
	"verdict.hours": {
		"Not at this hour.",
		"Zu dieser Stunde darf sich das Konto nicht anmelden.",
	},
	"verdict.workstations": {
		"Only at some computers.",
		"Das Konto darf sich nur an bestimmten Computern anmelden.",
	},
	"verdict.smartcard_required": {
		"Only with a smart card.",
		"Das Konto darf sich nur mit einer Smartcard anmelden.",
	},
	"verdict.ok":          {"Nothing blocks this account.", "Nichts blockiert dieses Konto."},
	"verdict.other":       {"Note: {code}", "Hinweis: {code}"},
	"unread":              {"{what}: {why}", "{what}: {why}"},
	"unread.logon":        {"Logon", "Anmeldung"},
	"unread.policy":       {"Password policy", "Kennwortrichtlinie"},
	"unread.groups":       {"Groups", "Gruppen"},
	"unread.localAdmin":   {"Local administrator", "Lokaler Administrator"},
	"unread.recoveryKeys": {"BitLocker keys", "BitLocker-Schlüssel"},
	"unread.members":      {"Members", "Mitglieder"},
	"unread.changes":      {"Changes", "Änderungen"},
	"warning.other":       {"Note: {code}", "Hinweis: {code}"},
	"error.other":         {"Error: {code}", "Fehler: {code}"},
	"check.failed":        {"A check failed: {name}", "Eine Prüfung ist fehlgeschlagen: {name}"},
}

// ofTheAPI matches messages with terms that only callers of the API know: calls, parameters, headers, scopes,
// and plans, which the pages call previews.
var ofTheAPI = regexp.MustCompile(`\b(?:GET|POST|PUT|PATCH|DELETE) /|/readyz|/openapi|\bscope\b|'[a-z]+:[a-z]+'|` +
	`\bpl_[0-9a-f]|\b(?:DryRun|PlanId|If-Match|ResultKey|AcceptDrift|operationId)\b`)

// Error returns the API's message for an error. In German, or if the message contains terms of the API, it
// returns the table's text for the code. A message without a code is already in the language of the page.
func Error(code, message string) Text {
	if Has("error."+code) && ofTheAPI.MatchString(message) {
		return Of("error." + code)
	}
	return said("error.", code, message)
}

// Warning is [Error] for a warning.
func Warning(code, message string) Text { return said("warning.", code, message) }

// Verdict is like [Error], for a verdict about a logon.
func Verdict(code, message string) Text { return said("verdict.", code, message) }

func said(kind, code, message string) Text {
	if code == "" || message == "" {
		return Raw(message)
	}
	german := Of(kind+"other", "code", code)
	if Has(kind + code) {
		german = Of(kind + code)
	}
	return Each([2]string{message, german.In(German)})
}
