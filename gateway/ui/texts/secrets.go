package texts

// secrets are the texts about secrets of computers and about lock-outs.
var secrets = table{
	"secret.title":        {"Secrets", "Geheimnisse"},
	"secret.of":           {"{what}: {computer}", "{what}: {computer}"},
	"secret.laps.title":   {"Local administrator’s password", "Kennwort des lokalen Administrators"},
	"secret.laps.account": {"Account", "Konto"},
	"secret.laps.windows": {"Kept by Windows LAPS; it expires", "Von Windows LAPS verwaltet; es läuft ab"},
	"secret.laps.legacy":  {"Kept by the older LAPS; it expires", "Vom älteren LAPS verwaltet; es läuft ab"},
	"secret.laps.none":    {"LAPS keeps no password of this computer.", "LAPS verwaltet kein Kennwort dieses Computers."},
	"secret.key":          {"BitLocker key {id}", "BitLocker-Schlüssel {id}"},
	"secret.key.title":    {"BitLocker key", "BitLocker-Schlüssel"},
	"secret.key.account":  {"Key ID begins with", "Schlüssel-ID beginnt mit"},
	"secret.key.made":     {"Stored", "Gespeichert"},
	"secret.key.none":     {"The directory has no key of this computer.", "Das Verzeichnis hat keinen Schlüssel dieses Computers."},
	"secret.show.laps":    {"Show the password", "Kennwort zeigen"},
	"secret.show.key":     {"Show the key", "Schlüssel zeigen"},
	"secret.set":          {"Set", "Gesetzt"},
	"secret.why":          {"Reason or ticket", "Grund oder Ticket"},
	"secret.why.help": {
		"At least 8 letters. The audit has your name and this reason.",
		"Mindestens 8 Zeichen. Das Audit hat Ihren Namen und diesen Grund.",
	},
	"secret.waits": {"It is being read.", "Es wird gelesen."},
	"secret.gone": {
		"It is no longer shown. Ask for it again if you need it.",
		"Es wird nicht mehr gezeigt. Fragen Sie es erneut ab, wenn Sie es brauchen.",
	},

	"record.title":    {"{type} records of {name}", "{type}-Einträge von {name}"},
	"record.none":     {"There are no such records.", "Es gibt keine solchen Einträge."},
	"record.edit":     {"Edit", "Bearbeiten"},
	"fact.deleted":    {"Deleted", "Gelöscht"},
	"fact.until":      {"Can be restored until", "Wiederherstellbar bis"},
	"fact.restorable": {"Restore", "Wiederherstellung"},
	"fact.whyNot":     {"Why not", "Warum nicht"},
	"fact.removal":    {"Deleted by", "Gelöscht durch"},
	"many.restore":    {"Restore", "Wiederherstellen"},

	"lockout.title":      {"Where the account was locked out", "Wo das Konto gesperrt wurde"},
	"lockout.source":     {"From the computer", "Vom Computer"},
	"lockout.unknown":    {"not known", "nicht bekannt"},
	"lockout.tries":      {"Wrong passwords", "Falsche Kennwörter"},
	"lockout.controller": {"Says the domain controller", "Sagt der Domänencontroller"},
	"lockout.count":      {"{n} wrong passwords", "{n} falsche Kennwörter"},
	"lockout.count.one":  {"1 wrong password", "1 falsches Kennwort"},
}
