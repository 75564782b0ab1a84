package texts

// forms contains the texts of forms, previews and results.
var forms = table{
	"do.notYours": {
		"Your role does not include “{action}”. Ask your gateway administrator.",
		"Ihre Rolle enthält „{action}“ nicht. Fragen Sie Ihre Gateway-Administration.",
	},
	"do.forgotten": {
		"What was typed here is not kept any more. Nothing was changed.",
		"Was hier eingegeben wurde, ist nicht mehr vorhanden. Nichts wurde geändert.",
	},
	"do.problems": {
		"{n} fields need a second look",
		"{n} Felder müssen noch einmal angesehen werden",
	},
	"do.problems.one": {"One field needs a second look", "Ein Feld muss noch einmal angesehen werden"},
	"job.effect":      {"{mark} {what}", "{mark} {what}"},
	"job.first": {
		"These are the first rows. The result has all.",
		"Das sind die ersten Zeilen. Das Ergebnis hat alle.",
	},
	"job.csv":     {"Result as CSV", "Ergebnis als CSV"},
	"do.title":    {"{action}: {object}", "{action}: {object}"},
	"do.never":    {"No end", "Kein Ende"},
	"do.preview":  {"Preview", "Vorschau"},
	"do.back":     {"Back", "Zurück"},
	"do.more":     {"More fields", "Weitere Felder"},
	"do.required": {"required", "erforderlich"},
	"do.asIs":     {"Leave as it is", "So lassen"},
	"do.image": {
		"The file is not an image that can be used. Take a JPEG or PNG.",
		"Die Datei ist kein brauchbares Bild. Nehmen Sie ein JPEG oder PNG.",
	},
	"do.all":          {"All actions", "Alle Aktionen"},
	"group.people":    {"People", "Personen"},
	"group.groups":    {"Groups", "Gruppen"},
	"group.computers": {"Computers", "Computer"},
	"group.ous":       {"Organizational units", "Organisationseinheiten"},
	"group.bin":       {"Recycle Bin", "Papierkorb"},
	"group.dns":       {"DNS", "DNS"},
	"do.empty":        {"Nothing else is asked.", "Mehr wird nicht gefragt."},

	"pick.several": {
		"There are several called {name}: {names}. Type one of these.",
		"Es gibt mehrere namens {name}: {names}. Geben Sie eines davon ein.",
	},
	"pick.near": {
		"There is no {name}. Did you mean {names}?",
		"{name} gibt es nicht. Meinten Sie {names}?",
	},
	"pick.none": {
		"There is no {name} that you may see.",
		"{name} gibt es nicht, oder nicht für Sie sichtbar.",
	},

	"step.nothing": {"Nothing has changed yet.", "Noch ist nichts geändert."},
	"step.same": {
		"{what}: nothing to do, it is so already.",
		"{what}: Nichts zu tun, es ist schon so.",
	},
	"step.noChange": {
		"Nothing to do: it is so already.",
		"Nichts zu tun: Es ist schon so.",
	},
	"step.what":      {"What will change", "Was sich ändert"},
	"step.was":       {"What was to change", "Was sich ändern sollte"},
	"step.object":    {"Object", "Objekt"},
	"step.field":     {"Field", "Feld"},
	"step.before.is": {"Before", "Vorher"},
	"step.after.is":  {"After", "Nachher"},
	"step.worth":     {"Worth knowing", "Gut zu wissen"},
	"step.confirm":   {"Confirm", "Bestätigen"},
	"step.edit":      {"Change the input", "Eingabe ändern"},
	"step.members":   {"The other members stay.", "Die anderen Mitglieder bleiben."},
	"step.password": {
		"{object} gets a new password. The old one stops working at once.",
		"{object} bekommt ein neues Kennwort. Das alte gilt sofort nicht mehr.",
	},
	"step.joins":   {"{member} to {object}", "{member} in {object}"},
	"step.leaves":  {"{member} from {object}", "{member} aus {object}"},
	"step.created": {"{object}, new in {place}", "{object}, neu in {place}"},
	"step.deleted": {"{object} is deleted", "{object} wird gelöscht"},
	"step.meanwhile": {
		"{who} changed {object} in the meantime: {action}. Your change does not touch it.",
		"{who} hat {object} inzwischen geändert: {action}. Ihre Änderung berührt das nicht.",
	},
	"step.drifted": {
		"Someone changed this in the meantime. Nothing was done; check the new preview.",
		"Jemand hat das inzwischen geändert. Nichts wurde getan; prüfen Sie die neue Vorschau.",
	},
	"step.done":    {"Done: {what}.", "Erledigt: {what}."},
	"step.notDone": {"{what}: not done", "{what}: nicht erledigt"},
	"step.see":     {"See the change", "Änderung ansehen"},
	"step.late":    {"Too late", "Zu spät"},
	"step.gone": {
		"This preview is not kept any more. Nothing was changed. Open the page again and repeat " +
			"what you did.",
		"Diese Vorschau ist nicht mehr vorhanden. Nichts wurde geändert. Öffnen Sie die Seite neu " +
			"und wiederholen Sie den Vorgang.",
	},
	"step.roleGone": {
		"You do not have the role any more with which you made this preview. Nothing was changed.",
		"Sie haben die Rolle nicht mehr, mit der Sie diese Vorschau gemacht haben. Nichts wurde geändert.",
	},
	"step.before": {"Confirmed already", "Schon bestätigt"},
	"step.among": {
		"This was confirmed before. Its result is among your changes.",
		"Das wurde schon bestätigt. Das Ergebnis steht unter Ihren Änderungen.",
	},
	"step.noPlans": {
		"This gateway keeps no plans, which changes on these pages need.",
		"Dieses Gateway bewahrt keine Pläne auf, die Änderungen auf diesen Seiten brauchen.",
	},
	"step.notKept": {
		"The preview could not be kept, so nothing can be changed. {why}",
		"Die Vorschau konnte nicht aufbewahrt werden, daher kann nichts geändert werden. {why}",
	},
	"step.noRole": {
		"No role gives you a right to do this.",
		"Keine Rolle gibt Ihnen ein Recht dazu.",
	},
	"step.undoes":      {"Undo: {what}", "Rückgängig: {what}"},
	"step.minutes":     {"{n} minutes", "{n} Minuten"},
	"step.minutes.one": {"1 minute", "1 Minute"},
	"step.result":      {"Result", "Ergebnis"},
	"step.group":       {"Group", "Gruppe"},
	"step.reason":      {"Reason", "Grund"},

	"pass.title": {"The new password", "Das neue Kennwort"},
	"pass.read":  {"It is set. Read it out now.", "Es ist gesetzt. Lesen Sie es jetzt vor."},
	"pass.how":   {"How to say it", "So wird es gesprochen"},
	"pass.part":  {"Part", "Teil"},
	"pass.say":   {"Say", "Sprich"},
	"pass.spell": {"Letter by letter", "Buchstabe für Buchstabe"},
	"pass.left": {
		"Shown here for {n} more, also when you reload or change to another tab. Nobody can look " +
			"it up afterwards.",
		"Hier noch {n} zu sehen, auch nach dem Neuladen oder in einem anderen Tab. Danach kann es " +
			"niemand nachsehen.",
	},
	"pass.close": {"I have passed it on", "Ich habe es weitergegeben"},
	"pass.copy":  {"Copy", "Kopieren"},
	"pass.print": {"Print a slip", "Zettel drucken"},
	"pass.gone": {
		"The new password is not shown any more. If it was not passed on, reset it again.",
		"Das neue Kennwort wird nicht mehr angezeigt. Wenn es nicht weitergegeben wurde, setzen " +
			"Sie es noch einmal zurück.",
	},
	"spell.small.hyphen": {
		"{word}, all small, then a hyphen",
		"{word}, alles klein, dann ein Bindestrich",
	},
	"spell.capital.hyphen": {
		"{word} with a capital first letter, then a hyphen",
		"{word} mit großem Anfangsbuchstaben, dann ein Bindestrich",
	},
	"spell.digits.hyphen": {
		"the digits {word}, then a hyphen",
		"die Ziffern {word}, dann ein Bindestrich",
	},
	"spell.small": {"{word}, all small", "{word}, alles klein"},
	"spell.capital": {
		"{word} with a capital first letter",
		"{word} mit großem Anfangsbuchstaben",
	},
	"spell.digits": {"the digits {word}", "die Ziffern {word}"},

	"field.members":      {"Members", "Mitglieder"},
	"field.name":         {"Name", "Name"},
	"field.username":     {"Logon name", "Anmeldename"},
	"field.samName":      {"Account name", "Kontoname"},
	"field.protected":    {"Protected from deletion", "Vor dem Löschen geschützt"},
	"field.records":      {"Records", "Einträge"},
	"field.scope":        {"Scope", "Gültigkeitsbereich"},
	"field.primaryGroup": {"Primary group", "Primäre Gruppe"},
}
