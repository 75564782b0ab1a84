package zones

import (
	"strconv"
	"strings"
)

// Message returns the message of the error in a culture: German for "de" and "de-...", otherwise English. For
// operations on zones and records, it is the message of the real module, which does not contain the cause
// (facts D12). For other operations, it is the system's message for the code.
func (e *Error) Message(culture string) string {
	table := english
	if culture = strings.ToLower(culture); culture == "de" || strings.HasPrefix(culture, "de-") {
		table = german
	}
	if e.Code == CodeServerUnavailable {
		return table.codes[e.Code]
	}
	op := e.Op
	if e.Code == CodeZoneDoesNotExist {
		op = OpGetZone // every cmdlet reports an absent zone in this way
	}
	if sentence := table.ops[op]; sentence != "" {
		return strings.NewReplacer("{name}", e.Name, "{zone}", e.Zone, "{server}", e.Server).Replace(sentence)
	}
	return e.Text(culture)
}

// Text returns the system's message for the code in a culture, see Message.
func (e *Error) Text(culture string) string {
	table := english
	if culture = strings.ToLower(culture); culture == "de" || strings.HasPrefix(culture, "de-") {
		table = german
	}
	if text := table.codes[e.Code]; text != "" {
		return text
	}
	return "WIN32 " + strconv.Itoa(e.Code)
}

type texts struct {
	ops   map[Op]string
	codes map[int]string
}

var english = texts{
	ops: map[Op]string{
		OpGetZone:          "The zone {zone} was not found on server {server}.",
		OpListZones:        "Failed to enumerate zones from the server {server}.",
		OpCreateZone:       "Failed to create zone {zone} on server {server}.",
		OpRemoveZone:       "Failed to remove zone {zone} from server {server}.",
		OpGetRecord:        "Failed to get {name} record in {zone} zone on {server} server.",
		OpListRecords:      "Failed to enumerate resource records in zone {zone} on server {server}.",
		OpCreateRecord:     "Failed to create resource record {name} in zone {zone} on server {server}.",
		OpSetRecord:        "Failed to update resource record {name} in zone {zone} on server {server}.",
		OpRemoveRecord:     "Failed to remove resource record {name} from zone {zone} on server {server}.",
		OpSetZone:          "Failed to set the properties of zone {zone} on server {server}.",
		OpGetAging:         "Failed to get the aging properties of zone {zone} on server {server}.",
		OpSetAging:         "Failed to set the aging properties of zone {zone} on server {server}.",
		OpGetDelegation:    "Failed to get the zone delegation {name} in zone {zone} on server {server}.",
		OpCreateDelegation: "Failed to create the zone delegation {name} in zone {zone} on server {server}.",
		OpRemoveDelegation: "Failed to remove the zone delegation {name} from zone {zone} on server {server}.",
		OpGetStatistics:    "Failed to get the statistics of zone {zone} on server {server}.",
	},
	codes: map[int]string{
		CodeAccessDenied:         "Access is denied.",
		CodeInvalidParameter:     "The parameter is incorrect.",
		CodeInvalidName:          "The filename, directory name, or volume label syntax is incorrect.",
		CodeServerUnavailable:    "The RPC server is unavailable.",
		CodeServerFailure:        "DNS server failure.",
		CodeRefused:              "DNS operation refused.",
		CodeInvalidType:          "Invalid DNS type.",
		CodeInvalidIPAddress:     "Invalid IP address.",
		CodeInvalidNameChar:      "DNS name contains an invalid character.",
		CodeUnderDelegation:      "The record could not be created because this part of the DNS namespace has been delegated to another server.",
		CodeValueTooLarge:        "Value too large for DNS property.",
		CodeNotOnRODC:            "The operation requested is not permitted on against a DNS server running on a read-only DC.",
		CodeZoneDoesNotExist:     "DNS zone does not exist.",
		CodeInvalidZoneOperation: "Invalid operation for DNS zone.",
		CodeZoneAlreadyExists:    "DNS zone already exists.",
		CodeAutozoneExists:       "DNS automatic zone already exists.",
		CodeInvalidZoneType:      "Invalid DNS zone type.",
		CodeSoaDelete:            "Secondary zone SOA record may not be deleted.",
		CodeForwarderExists:      "A conditional forwarding zone already exists for that name.",
		CodeNeedsMasters:         "This zone must be configured with one or more master DNS server IP addresses.",
		CodeZoneShutdown:         "The requested operation cannot be performed because the zone is shut down.",
		CodeNeedsDatafile:        "Primary DNS zone requires datafile.",
		CodeInvalidDatafile:      "Invalid datafile name for DNS zone.",
		CodeRecordDoesNotExist:   "DNS record does not exist.",
		CodeRecordFormat:         "Error in the format of the DNS record.",
		CodeNameNotInZone:        "DNS name does not belong in zone.",
		CodeCNameLoop:            "CNAME alias points back to itself.",
		CodeNodeIsCName:          "Node is a CNAME DNS record.",
		CodeCNameCollision:       "A CNAME record already exists for given name.",
		CodeUnderDName:           "The operation is not allowed for names below a DNAME record.",
		CodeDNameCollision:       "The DNAME record collides with other records.",
		CodeRecordOnlyAtRoot:     "Record only at DNS zone root.",
		CodeRecordAlreadyExists:  "DNS record already exists.",
		CodeNameDoesNotExist:     "DNS name does not exist.",
		CodeDsUnavailable:        "The directory service is unavailable.",
		CodeDsZoneAlreadyExists:  "DNS zone already exists in the directory service.",
		CodeNoPartition:          "The specified directory partition does not exist.",
	},
}

var german = texts{
	ops: map[Op]string{
		OpGetZone:          `Die Zone "{zone}" wurde auf dem Server "{server}" nicht gefunden.`,
		OpListZones:        `Fehler beim Auflisten der Zonen auf dem Server "{server}".`,
		OpCreateZone:       `Fehler beim Erstellen der Zone "{zone}" auf dem Server "{server}".`,
		OpRemoveZone:       `Fehler beim Entfernen der Zone "{zone}" vom Server "{server}".`,
		OpGetRecord:        `Fehler beim Abrufen des Datensatzes "{name}" in der Zone "{zone}" auf dem Server "{server}".`,
		OpListRecords:      `Fehler beim Auflisten der Ressourcendatensätze in der Zone "{zone}" auf dem Server "{server}".`,
		OpCreateRecord:     `Fehler beim Erstellen des Ressourcendatensatzes "{name}" in der Zone "{zone}" auf dem Server "{server}".`,
		OpSetRecord:        `Fehler beim Aktualisieren des Ressourcendatensatzes "{name}" in der Zone "{zone}" auf dem Server "{server}".`,
		OpRemoveRecord:     `Fehler beim Entfernen des Ressourcendatensatzes "{name}" aus der Zone "{zone}" auf dem Server "{server}".`,
		OpSetZone:          `Fehler beim Festlegen der Eigenschaften der Zone "{zone}" auf dem Server "{server}".`,
		OpGetAging:         `Fehler beim Abrufen der Alterungseigenschaften der Zone "{zone}" auf dem Server "{server}".`,
		OpSetAging:         `Fehler beim Festlegen der Alterungseigenschaften der Zone "{zone}" auf dem Server "{server}".`,
		OpGetDelegation:    `Fehler beim Abrufen der Zonendelegierung "{name}" in der Zone "{zone}" auf dem Server "{server}".`,
		OpCreateDelegation: `Fehler beim Erstellen der Zonendelegierung "{name}" in der Zone "{zone}" auf dem Server "{server}".`,
		OpRemoveDelegation: `Fehler beim Entfernen der Zonendelegierung "{name}" aus der Zone "{zone}" auf dem Server "{server}".`,
		OpGetStatistics:    `Fehler beim Abrufen der Statistik der Zone "{zone}" auf dem Server "{server}".`,
	},
	codes: map[int]string{
		CodeAccessDenied:         "Zugriff verweigert",
		CodeInvalidParameter:     "Falscher Parameter.",
		CodeInvalidName:          "Die Syntax für den Dateinamen, Verzeichnisnamen oder die Datenträgerbezeichnung ist falsch.",
		CodeServerUnavailable:    "Der RPC-Server ist nicht verfügbar.",
		CodeServerFailure:        "DNS-Serverfehler.",
		CodeRefused:              "Der DNS-Vorgang wurde verweigert.",
		CodeInvalidType:          "Ungültiger DNS-Typ.",
		CodeInvalidIPAddress:     "Ungültige IP-Adresse.",
		CodeInvalidNameChar:      "Der DNS-Name enthält ein ungültiges Zeichen.",
		CodeUnderDelegation:      "Der Eintrag konnte nicht erstellt werden, da dieser Teil des DNS-Namespaces an einen anderen Server delegiert wurde.",
		CodeValueTooLarge:        "Der Wert ist für die DNS-Eigenschaft zu groß.",
		CodeNotOnRODC:            "Der angeforderte Vorgang ist auf einem schreibgeschützten Domänencontroller nicht zulässig.",
		CodeZoneDoesNotExist:     "Die DNS-Zone ist nicht vorhanden.",
		CodeInvalidZoneOperation: "Ungültiger Vorgang für die DNS-Zone.",
		CodeZoneAlreadyExists:    "Die DNS-Zone ist bereits vorhanden.",
		CodeAutozoneExists:       "Die automatische DNS-Zone ist bereits vorhanden.",
		CodeInvalidZoneType:      "Ungültiger DNS-Zonentyp.",
		CodeSoaDelete:            "Der SOA-Eintrag der sekundären Zone darf nicht gelöscht werden.",
		CodeForwarderExists:      "Für diesen Namen ist bereits eine bedingte Weiterleitungszone vorhanden.",
		CodeNeedsMasters:         "Diese Zone muss mit mindestens einer IP-Adresse eines DNS-Masterservers konfiguriert werden.",
		CodeZoneShutdown:         "Der angeforderte Vorgang kann nicht ausgeführt werden, da die Zone heruntergefahren ist.",
		CodeNeedsDatafile:        "Die primäre DNS-Zone erfordert eine Datendatei.",
		CodeInvalidDatafile:      "Ungültiger Datendateiname für die DNS-Zone.",
		CodeRecordDoesNotExist:   "Der DNS-Eintrag ist nicht vorhanden.",
		CodeRecordFormat:         "Fehler im Format des DNS-Datensatzes.",
		CodeNameNotInZone:        "Der DNS-Name gehört nicht zur Zone.",
		CodeCNameLoop:            "Der CNAME-Alias verweist auf sich selbst.",
		CodeNodeIsCName:          "Der Knoten ist ein CNAME-DNS-Eintrag.",
		CodeCNameCollision:       "Für den angegebenen Namen ist bereits ein CNAME-Eintrag vorhanden.",
		CodeUnderDName:           "Der Vorgang ist für Namen unter einem DNAME-Eintrag nicht zulässig.",
		CodeDNameCollision:       "Der DNAME-Eintrag steht im Konflikt mit anderen Einträgen.",
		CodeRecordOnlyAtRoot:     "Der Eintrag ist nur im DNS-Zonenstamm zulässig.",
		CodeRecordAlreadyExists:  "Der DNS-Eintrag ist bereits vorhanden.",
		CodeNameDoesNotExist:     "Der DNS-Name ist nicht vorhanden.",
		CodeDsUnavailable:        "Der Verzeichnisdienst ist nicht verfügbar.",
		CodeDsZoneAlreadyExists:  "Die DNS-Zone ist bereits im Verzeichnisdienst vorhanden.",
		CodeNoPartition:          "Die angegebene Verzeichnispartition ist nicht vorhanden.",
	},
}
