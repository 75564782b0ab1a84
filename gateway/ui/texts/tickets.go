package texts

import "adgateway/gateway/authn/negotiate"

// tickets contains the texts for the reasons why a Kerberos ticket is refused. The English ones are the
// sentences that API clients get.
var tickets = table{
	refusal(negotiate.NotKerberos): {
		negotiate.NotKerberos.Sentence(),
		"Dieser Computer hat kein Kerberos-Ticket geschickt, und NTLM wird nicht angenommen. " +
			"Öffnen Sie das Gateway unter seinem vollen Namen.",
	},
	refusal(negotiate.Unreadable): {
		negotiate.Unreadable.Sentence(),
		"Was dieser Computer zur Anmeldung geschickt hat, kann nicht gelesen werden.",
	},
	refusal(negotiate.TooLong): {
		negotiate.TooLong.Sentence(),
		"Das Ticket dieses Computers ist zu groß, weil das Konto in sehr vielen Gruppen ist.",
	},
	refusal(negotiate.OtherService): {
		negotiate.OtherService.Sentence(),
		"Das Ticket dieses Computers ist für einen anderen Dienst.",
	},
	refusal(negotiate.Replayed): {
		negotiate.Replayed.Sentence(),
		"Dieses Ticket wurde schon benutzt. Laden Sie die Seite noch einmal.",
	},
	refusal(negotiate.Expired): {
		negotiate.Expired.Sentence(),
		"Das Ticket dieses Computers ist abgelaufen. " +
			"Sperren Sie Windows, entsperren Sie es, und versuchen Sie es noch einmal.",
	},
	refusal(negotiate.NotYet): {
		negotiate.NotYet.Sentence(),
		"Das Ticket dieses Computers gilt noch nicht. Vergleichen Sie seine Uhr mit der des Gateways.",
	},
	refusal(negotiate.ClockOff): {
		negotiate.ClockOff.Sentence(),
		"Die Uhr dieses Computers geht mehr als fünf Minuten anders als die des Gateways. " +
			"Stellen Sie sie, und versuchen Sie es noch einmal.",
	},
	refusal(negotiate.OtherDomain): {
		negotiate.OtherDomain.Sentence(),
		"Konten Ihrer Domäne dürfen sich hier nicht anmelden.",
	},
	refusal(negotiate.NoPerson): {
		negotiate.NoPerson.Sentence(),
		"Das Konto des Tickets gehört keiner Person.",
	},
	refusal(negotiate.Relayed): {
		negotiate.Relayed.Sentence(),
		"Das Ticket wurde für eine andere Verbindung ausgestellt als die, über die es kam.",
	},
	refusal(negotiate.Invalid): {
		negotiate.Invalid.Sentence(),
		"Das Ticket dieses Computers gilt hier nicht.",
	},
	refusal(negotiate.NotAllowed): {
		negotiate.NotAllowed.Sentence(),
		"Ihr Konto darf sich im Moment nicht anmelden: Es ist deaktiviert, gesperrt oder abgelaufen.",
	},
}

func refusal(r negotiate.Reason) string { return "ticket." + string(r) }
