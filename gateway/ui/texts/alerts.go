package texts

// alerts contains the texts that pages show when a request has failed.
var alerts = table{
	"alert.failed":    {"That did not work", "Das hat nicht geklappt"},
	"alert.notFound":  {"Not found", "Nicht gefunden"},
	"alert.forbidden": {"No right to see this", "Kein Recht, dies zu sehen"},
	"alert.again": {
		"Try again in a moment. If it fails again, give your gateway administrator the request ID.",
		"Versuchen Sie es gleich noch einmal. Nennen Sie sonst Ihrem Gateway-Administrator die Anfrage-ID.",
	},
	"alert.right": {
		"Ask your gateway administrator for access.",
		"Bitten Sie Ihren Gateway-Administrator um Zugang.",
	},

	"frame.plain":       {"Not encrypted", "Nicht verschlüsselt"},
	"frame.plain.text":  {"These pages are served over HTTPS only.", "Diese Seiten gibt es nur über HTTPS."},
	"frame.noPage":      {"No such page", "Keine solche Seite"},
	"frame.noPage.text": {"There is no page at this address.", "Unter dieser Adresse gibt es keine Seite."},
	"form.foreign":      {"Not accepted", "Nicht angenommen"},
	"form.foreign.text": {
		"Forms are accepted from these pages only. Open the page again and repeat what you did.",
		"Formulare werden nur von diesen Seiten angenommen. Öffnen Sie die Seite neu, und " +
			"wiederholen Sie den Schritt.",
	},
	"form.unreadable":      {"Not readable", "Nicht lesbar"},
	"form.unreadable.text": {"The form could not be read.", "Das Formular konnte nicht gelesen werden."},
	"form.tooLarge":        {"Too large", "Zu groß"},
	"form.tooLarge.text": {
		"This form is larger than these pages take. Submit a list of more than 1 MiB with the command: " +
			"adgateway job submit.",
		"Dieses Formular ist größer, als diese Seiten annehmen. Reichen Sie eine Liste von mehr als 1 MiB mit " +
			"dem Befehl ein: adgateway job submit.",
	},
	"form.old": {"Form not accepted", "Formular nicht angenommen"},
	"form.old.text": {
		"This form is not one that was shown to you, or it is too old. Nothing was changed. " +
			"Open the page again and repeat what you did.",
		"Dieses Formular wurde Ihnen nicht gezeigt, oder es ist zu alt. Nichts wurde geändert. " +
			"Öffnen Sie die Seite neu, und wiederholen Sie den Schritt.",
	},
	"store.notNow": {"Not now", "Gerade nicht"},
	"store.notNow.text": {
		"{why} Nothing was changed. Try again in a moment: your session goes on.",
		"{why} Nichts wurde geändert. Versuchen Sie es gleich noch einmal: Ihre Sitzung besteht weiter.",
	},
	"list.tooLong": {
		"The list is longer than these pages take, which is 1 MiB. Split it, or submit it with the command: " +
			"adgateway job submit.",
		"Die Liste ist länger, als diese Seiten annehmen: Sie nehmen 1 MiB. Teilen Sie sie auf, oder reichen Sie " +
			"sie mit dem Befehl ein: adgateway job submit.",
	},
}
