package texts

// work contains the texts of the pages for changes, lists and the audit.
var work = table{
	"value.secret":    {"not shown", "nicht gezeigt"},
	"value.newSecret": {"a new one", "ein neues"},

	"changes.none": {"You have changed nothing yet.", "Sie haben noch nichts geändert."},

	"note.ended": {
		"Your list “{what}” has ended ({state}): {progress}.",
		"Ihre Liste „{what}“ ist zu Ende ({state}): {progress}.",
	},
	"note.see": {"See the list", "Liste ansehen"},

	"job.noResult": {
		"The result cannot be read at the moment.", "Das Ergebnis ist gerade nicht lesbar.",
	},
	"job.several":           {"Several operations", "Mehrere Vorgänge"},
	"job.nothing":           {"Nothing was run", "Nichts wurde ausgeführt"},
	"job.run.progress":      {"{n} of {of} items, {percent} %", "{n} von {of} Zeilen, {percent} %"},
	"job.validate.progress": {"{n} of {of} items done", "{n} von {of} Zeilen fertig"},
	"job.dryRun.progress": {
		"{n} of {of} items checked, none is changed", "{n} von {of} Zeilen geprüft, keine ist geändert",
	},
	"job.run.done":        {"Done", "Erledigt"},
	"job.validate.done":   {"Done", "Erledigt"},
	"job.dryRun.done":     {"Would change", "Würden geändert"},
	"job.run.failed":      {"Failed", "Fehlgeschlagen"},
	"job.validate.failed": {"Failed", "Fehlgeschlagen"},
	"job.dryRun.failed":   {"Would fail", "Würden fehlschlagen"},
	"job.run.noop":        {"{n}, and {more} that were so already", "{n}, und {more}, die schon so waren"},
	"job.validate.noop":   {"{n}, and {more} that are so already", "{n}, und {more}, die schon so sind"},
	"job.dryRun.noop":     {"{n}, and {more} that are so already", "{n}, und {more}, die schon so sind"},
	"job.run.notDone": {
		"{failed} failed, {unknown} unknown",
		"{failed} fehlgeschlagen, {unknown} unbekannt",
	},
	"job.validate.notDone": {
		"{failed} failed, {unknown} unknown",
		"{failed} fehlgeschlagen, {unknown} unbekannt",
	},
	"job.dryRun.notDone": {
		"{failed} would fail, {unknown} unknown",
		"{failed} würden fehlschlagen, {unknown} unbekannt",
	},
	"job.follows": {
		"Needs an object that an earlier row creates, so it is checked when it runs.",
		"Braucht, was eine frühere Zeile anlegt, und wird darum erst bei der Ausführung geprüft.",
	},
	"job.after": {
		"A row that it comes after was not done.", "Eine Zeile, auf die sie folgt, wurde nicht ausgeführt.",
	},
	"job.count":     {"{n}", "{n}"},
	"job.leftOut":   {"{n}, and {more} left out", "{n}, und {more} ausgelassen"},
	"job.unknown":   {"Unknown", "Unbekannt"},
	"job.notRun":    {"Not run", "Nicht ausgeführt"},
	"job.number":    {"Number", "Nummer"},
	"job.state":     {"State", "Zustand"},
	"job.submitted": {"Submitted", "Eingereicht"},
	"job.started":   {"Started", "Begonnen"},
	"job.ended":     {"Ended", "Beendet"},
	"job.rate":      {"Items a second", "Zeilen je Sekunde"},
	"job.remaining": {"Remaining", "Verbleibend"},
	"job.seconds":   {"about {n} s", "etwa {n} s"},
	"job.do.start":  {"Start", "Starten"},
	"job.do.pause":  {"Pause", "Anhalten"},
	"job.do.resume": {"Resume", "Fortsetzen"},
	"job.do.cancel": {"Cancel the rest", "Rest abbrechen"},
	"job.do.retry":  {"Try the failed rows again", "Fehlgeschlagene Zeilen noch einmal versuchen"},
	"job.do.undo":   {"Undo this list", "Diese Liste rückgängig machen"},
	"job.do.remove": {"Remove this list", "Diese Liste entfernen"},
	"job.ask.retry": {
		"A new list tries the rows again that were not done.",
		"Eine neue Liste versucht die Zeilen noch einmal, die nicht ausgeführt wurden.",
	},
	"job.ask.undo": {
		"A new list shows what taking back each change would do. Nothing is changed before you start it.",
		"Eine neue Liste zeigt, was das Zurücknehmen jeder Änderung täte. Vor dem Start wird " +
			"nichts geändert.",
	},
	"job.ask.remove": {
		"The list is removed with its rows and results. What it has changed stays as it is.",
		"Die Liste wird mit ihren Zeilen und Ergebnissen entfernt. Was sie geändert hat, bleibt.",
	},

	"procedure.lead": {
		"Each is one form. You see what every step would do before anything happens, and can undo all of it.",
		"Jeder ist ein Formular. Sie sehen, was jeder Schritt täte, bevor etwas geschieht, " +
			"und können alles zurücknehmen.",
	},
	"procedure.none": {"No procedures yet.", "Noch keine Abläufe."},
	"procedure.lacks": {
		"Not for you: your role does not include {steps}.", "Nicht für Sie: Ihrer Rolle fehlt {steps}.",
	},
	"procedure.notYours": {
		"Your role does not include {steps}. Ask your gateway administrator.",
		"Ihrer Rolle fehlt {steps}. Fragen Sie, wer das Gateway verwaltet.",
	},
	"procedure.job": {"{what}: {who}", "{what}: {who}"},

	"sheet.title": {"Which column is what", "Welche Spalte ist was"},
	"sheet.lead": {
		"{what}, for each row of the list. Choose the field of each column.",
		"{what}, für jede Zeile der Liste. Wählen Sie zu jeder Spalte das Feld.",
	},
	"sheet.left":   {"Not used: {columns}.", "Nicht verwendet: {columns}."},
	"sheet.names":  {"Names to correct", "Namen berichtigen"},
	"sheet.first":  {"The first row has", "Die erste Zeile enthält"},
	"sheet.header": {"The names of the columns", "Die Namen der Spalten"},
	"sheet.data":   {"Data already", "Schon Daten"},
	"sheet.edit":   {"Edit the list", "Liste bearbeiten"},
	"sheet.items": {
		"{what}. These names were not found, or there are several objects of that name.",
		"{what}. Diese Namen wurden nicht gefunden, oder es gibt mehrere Objekte mit dem Namen.",
	},
	"sheet.called":   {"In the file", "In der Datei"},
	"sheet.values":   {"First values", "Erste Werte"},
	"sheet.secret":   {"Not shown: they may be passwords", "Nicht angezeigt: Es können Kennwörter sein"},
	"sheet.field":    {"Field", "Feld"},
	"sheet.for":      {"Field of the column {column}", "Feld der Spalte {column}"},
	"sheet.out":      {"Leave out", "Weglassen"},
	"sheet.own":      {"Belongs to the list", "Gehört zur Liste"},
	"sheet.nameless": {"Column {n}", "Spalte {n}"},
	"sheet.go":       {"Check the list", "Liste prüfen"},
	"sheet.wrong":    {"Some columns are not right yet.", "Einige Spalten stimmen noch nicht."},
	"sheet.missing": {
		"No column is “{field}”, which each row needs.",
		"Keine Spalte ist „{field}“, das jede Zeile braucht.",
	},
	"sheet.twice": {
		"Column {n} is “{field}” already.", "Spalte {n} ist schon „{field}“.",
	},
	"sheet.again": {
		"Nothing was changed. Correct the list and send it again.",
		"Nichts wurde geändert. Berichtigen Sie die Liste und senden Sie sie noch einmal.",
	},
	"sheet.lookups": {
		"More than {most} names of this list have to be looked up. Write logon names.",
		"Mehr als {most} Namen dieser Liste müssten nachgeschlagen werden. Schreiben Sie Anmeldenamen.",
	},
	"sheet.gone": {
		"The list is no longer kept: upload it again. Nothing was changed.",
		"Die Liste ist nicht mehr da: Laden Sie sie noch einmal hoch. Nichts wurde geändert.",
	},

	"list.missing": {
		"There is no list: choose a file, or paste the list into the box.",
		"Es fehlt eine Liste: Wählen Sie eine Datei, oder fügen Sie die Liste in das Feld ein.",
	},
	"list.mode.dryRun": {
		"Show what each item would change, and change nothing yet",
		"Zeigen, was jede Zeile ändern würde, und noch nichts ändern",
	},
	"list.mode.validate": {
		"Check the list, and change nothing yet",
		"Die Liste prüfen und noch nichts ändern",
	},
	"list.mode.run": {"Change it now", "Jetzt ändern"},

	"audit.day.wrong": {
		"The day has no valid form: write it as 2026-03-01.",
		"Der Tag hat keine gültige Form: Schreiben Sie 2026-03-01.",
	},
	"audit.unreadable": {
		"The audit log cannot be read at the moment.",
		"Das Protokoll ist gerade nicht lesbar.",
	},
	"audit.noMatch": {"No calls on this day match.", "Keine Aufrufe dieses Tages passen."},
	"audit.noCalls": {"No calls on this day.", "Keine Aufrufe an diesem Tag."},

	"check.directorySessions": {"Directory sessions", "Verzeichnissitzungen"},
	"check.dnsSessions":       {"DNS sessions", "DNS-Sitzungen"},
	"check.domainController":  {"Domain controller", "Domänencontroller"},
	"check.dnsServer":         {"DNS server", "DNS-Server"},
	"check.domain":            {"Domain", "Domäne"},
	"check.store":             {"Change history", "Änderungsverlauf"},
	"check.settings":          {"Settings", "Einstellungen"},
	"check.log":               {"Log", "Log"},
	"check.audit":             {"Audit log", "Protokoll"},
	"check.certificate":       {"Certificate", "Zertifikat"},
	"check.credentials":       {"Credentials", "Zugangsdaten"},
}
