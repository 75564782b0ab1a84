package texts

// signIn are the texts of sign-in.
var signIn = table{
	"signIn.title":     {"Sign in", "Anmelden"},
	"signIn.link":      {"Sign in with a link", "Mit einem Link anmelden"},
	"signIn.link.once": {"This link signs you in once.", "Dieser Link meldet Sie einmal an."},
	"signIn.link.used": {
		"This link was used already or has expired.",
		"Dieser Link wurde schon benutzt oder ist abgelaufen.",
	},
	"signIn.account":   {"With your account", "Mit Ihrem Konto"},
	"signIn.name":      {"User name", "Benutzername"},
	"signIn.password":  {"Password", "Kennwort"},
	"signIn.withToken": {"With a token", "Mit einem Token"},
	"signIn.token":     {"Token", "Token"},
	"signIn.token.go":  {"Sign in with the token", "Mit dem Token anmelden"},
	"signIn.token.ended": {
		"The token is not valid any more. Sign in again.",
		"Das Token gilt nicht mehr. Melden Sie sich wieder an.",
	},
	"signIn.token.not": {
		"The token is not valid, or too many were tried from here.",
		"Das Token gilt nicht, oder es wurden von hier zu viele probiert.",
	},
	"signIn.kept": {
		"Your session has ended, and nothing was changed. Sign in again: what you typed is kept.",
		"Ihre Sitzung ist beendet, und nichts wurde geändert. Melden Sie sich wieder an: " +
			"Ihre Eingaben bleiben erhalten.",
	},
	"signIn.ended": {
		"Your session has ended, and nothing was changed. Sign in again.",
		"Ihre Sitzung ist beendet, und nichts wurde geändert. Melden Sie sich wieder an.",
	},
	// The text is the same for every failure, so that it does not reveal which accounts exist.
	"signIn.wrong": {
		"The name or password is not right, or sign-in is not allowed.",
		"Der Name oder das Kennwort stimmt nicht, oder die Anmeldung ist nicht erlaubt.",
	},
	"signIn.mustChange": {
		"Your password must be changed first. Do that where you log on to Windows.",
		"Ihr Kennwort muss erst geändert werden. Tun Sie das dort, wo Sie sich an Windows anmelden.",
	},
	"signIn.expired": {
		"Your password has expired. Change it where you log on to Windows.",
		"Ihr Kennwort ist abgelaufen. Ändern Sie es dort, wo Sie sich an Windows anmelden.",
	},
	"signIn.wait": {
		"Too many wrong passwords were tried for this name or from this address, so none is tried for now. " +
			"Wait {n} minutes, then sign in again.",
		"Für diesen Namen oder von dieser Adresse wurden zu viele falsche Kennwörter probiert. " +
			"Warten Sie {n} Minuten, und melden Sie sich dann wieder an.",
	},
	"signIn.wait.one": {
		"Too many wrong passwords were tried for this name or from this address, so none is tried for now. " +
			"Wait {n} minute, then sign in again.",
		"Für diesen Namen oder von dieser Adresse wurden zu viele falsche Kennwörter probiert. " +
			"Warten Sie {n} Minute, und melden Sie sich dann wieder an.",
	},
	"signIn.busy": {
		"Too many people sign in at once. Try again in a moment.",
		"Zu viele Personen melden sich gleichzeitig an. Versuchen Sie es gleich noch einmal.",
	},
	"signIn.away": {
		"The directory does not answer, so nobody can sign in. Try again in a moment.",
		"Das Verzeichnis antwortet nicht, deshalb kann sich niemand anmelden. Versuchen Sie es " +
			"gleich noch einmal.",
	},
	"signIn.noStore": {
		"{why} Nobody can sign in until it is back. Try again in a moment.",
		"{why} Bis er wieder da ist, kann sich niemand anmelden. Versuchen Sie es gleich noch einmal.",
	},
	"signIn.out": {"Signed out here", "Hier abgemeldet"},
	"signIn.out.text": {
		"{why} You are signed out in this browser; your session ends everywhere once the store is back.",
		"{why} In diesem Browser sind Sie abgemeldet; überall endet Ihre Sitzung, sobald der " +
			"Speicher wieder da ist.",
	},
	"store.rewound": {
		"The nodes of the cluster have lost changes (store_rewound).",
		"Die Knoten des Clusters haben Änderungen verloren (store_rewound).",
	},
	"store.lost": {
		"The store of the cluster cannot be reached (store_lost).",
		"Der Speicher des Clusters ist nicht erreichbar (store_lost).",
	},
	"store.tokens": {
		"The file of tokens cannot be read; the log of the gateway says why.",
		"Der Speicher der Tokens ist nicht lesbar; warum, steht im Protokoll des Gateways.",
	},
}
