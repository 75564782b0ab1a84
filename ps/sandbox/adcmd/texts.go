package adcmd

import (
	"fmt"
	"strings"
)

// say formats one of the module's own messages in the culture of the host. The
// messages of Win32 codes come from package directory.
func (c *call) say(key string, args ...any) string {
	pair := texts[key]
	text := pair[0]
	if strings.HasPrefix(strings.ToLower(c.h.Culture), "de") {
		text = pair[1]
	}
	return fmt.Sprintf(text, args...)
}

// texts are the module's own messages in English and German.
var texts = map[string][2]string{
	"objectNotFound": {"Directory object not found", "Das Verzeichnisobjekt wurde nicht gefunden"},
	"notFound": {
		"Cannot find an object with identity: '%[1]s' under: '%[2]s'.",
		"Es kann kein Objekt mit der ID \"%[1]s\" unter \"%[2]s\" gefunden werden.",
	},
	"multiple": {
		"Multiple objects with identity: '%[1]s' were found under: '%[2]s'.",
		"Mehrere Objekte mit der ID \"%[1]s\" wurden unter \"%[2]s\" gefunden.",
	},
	"serverDown": {
		"Unable to contact the server. This may be because this server does not exist, it is currently down, or it does not have the Active Directory Web Services running.",
		"Es kann keine Verbindung mit dem Server hergestellt werden. Möglicherweise ist der Server nicht vorhanden, zurzeit außer Betrieb, oder die Active Directory-Webdienste werden nicht ausgeführt.",
	},
	"rejected": {
		"The server has rejected the client credentials.",
		"Der Server hat die Clientanmeldeinformationen abgelehnt.",
	},
	"properties": {
		"One or more properties are invalid.",
		"Mindestens eine Eigenschaft ist ungültig.",
	},
	"parameterName": {
		"Parameter name: %[1]s",
		"Parametername: %[1]s",
	},
	"noAttribute": {
		"The specified directory service attribute or value does not exist",
		"Das angegebene Verzeichnisdienstattribut oder der Wert ist nicht vorhanden",
	},
	"twice": {
		"The attribute is specified by more than one parameter.",
		"Das Attribut wird durch mehrere Parameter angegeben.",
	},
	"changeAndNever": {
		"The ChangePasswordAtLogon and PasswordNeverExpires parameters cannot both be true.",
		"Die Parameter \"ChangePasswordAtLogon\" und \"PasswordNeverExpires\" können nicht beide wahr sein.",
	},
	"neverExpires": {
		"The password of this account never expires; a change at logon cannot be required.",
		"Das Kennwort dieses Kontos läuft nie ab; eine Änderung bei der Anmeldung kann nicht verlangt werden.",
	},
	"fileTime": {
		"Not a valid Win32 FileTime.",
		"Keine gültige Win32-FileTime.",
	},
	"validate": {
		"Cannot validate argument on parameter '%[1]s'. %[2]s",
		"Das Argument für den Parameter \"%[1]s\" kann nicht überprüft werden. %[2]s",
	},
	"prompt": {
		"Windows PowerShell is in NonInteractive mode. Read and Prompt functionality is not available.",
		"Windows PowerShell befindet sich im NonInteractive-Modus. Die Lese- und Eingabeaufforderungsfunktionen sind nicht verfügbar.",
	},
	"noSID": {
		"The object '%[1]s' has no security identifier and cannot be a member through this cmdlet.",
		"Das Objekt \"%[1]s\" hat keine Sicherheits-ID und kann über dieses Cmdlet kein Mitglied sein.",
	},
}
