package directory

// Message returns the system's message of the code: in German for "de..." cultures,
// otherwise in English (facts D3).
func (e *Error) Message(culture string) string { return Message(e.Code, culture) }

// Message returns the system's message of a Win32 code, see Error.Message. For an unknown
// code it returns the message of an unspecified error.
func Message(code int, culture string) string {
	m, ok := messages[code]
	if !ok {
		m = messages[CodeUnspecified]
	}
	if len(culture) >= 2 && (culture[0]|0x20) == 'd' && (culture[1]|0x20) == 'e' {
		return m[1]
	}
	return m[0]
}

// messages are the messages by code in English and German.
var messages = map[int][2]string{
	CodeUnspecified:         {"An unspecified error has occurred", "Es ist ein unbekannter Fehler aufgetreten"},
	CodeAccessDenied:        {"Access is denied", "Zugriff verweigert"},
	CodeInvalidPassword:     {"The specified network password is not correct", "Das angegebene Netzwerkkennwort ist falsch"},
	CodeInvalidParameter:    {"The parameter is incorrect", "Falscher Parameter"},
	CodeBadAccountName:      {"The name provided is not a properly formed account name", "Der angegebene Name ist kein ordnungsgemäßer Kontoname"},
	CodeMemberNotInGroup:    {"The specified user account is not a member of the specified group account", "Das angegebene Benutzerkonto ist kein Mitglied des angegebenen Gruppenkontos"},
	CodeAccountExists:       {"The specified account already exists", "Das angegebene Konto ist bereits vorhanden"},
	CodeGroupExists:         {"The specified group already exists", "Die angegebene Gruppe ist bereits vorhanden"},
	CodePasswordRestriction: {"The password does not meet the length, complexity, or history requirement of the domain", "Das Kennwort entspricht nicht den Anforderungen der Domäne an Länge, Komplexität oder Verlauf"},
	CodeLogonFailure:        {"The user name or password is incorrect", "Der Benutzername oder das Kennwort ist falsch"},
	CodePasswordExpired:     {"The password for this account has expired", "Das Kennwort für dieses Konto ist abgelaufen"},
	CodeAccountDisabled:     {"This user can't sign in because this account is currently disabled", "Die Anmeldung ist nicht möglich, da dieses Konto zurzeit deaktiviert ist"},
	CodeDirectoryNotFound:   {"Unable to find a default server with Active Directory Web Services running", "Es wurde kein Standardserver gefunden, auf dem die Active Directory-Webdienste ausgeführt werden"},
	CodeSpecialAccount:      {"Cannot perform this operation on built-in accounts", "Dieser Vorgang kann für integrierte Konten nicht ausgeführt werden"},
	CodePrimaryGroup:        {"The user cannot be removed from a group because the group is currently the user's primary group", "Der Benutzer kann nicht aus der Gruppe entfernt werden, da diese zurzeit die primäre Gruppe des Benutzers ist"},
	CodeNotMember:           {"The specified account name is not a member of the group", "Der angegebene Kontoname ist kein Mitglied der Gruppe"},
	CodeAlreadyMember:       {"The specified account name is already a member of the group", "Der angegebene Kontoname ist bereits Mitglied der Gruppe"},
	CodeAccountExpired:      {"The user's account has expired", "Das Benutzerkonto ist abgelaufen"},
	CodePasswordMustChange:  {"The user's password must be changed before signing in", "Das Kennwort des Benutzers muss vor der Anmeldung geändert werden"},
	CodeAccountLockedOut:    {"The referenced account is currently locked out and may not be logged on to", "Das angegebene Konto ist momentan gesperrt"},
	CodeObjectExists:        {"The object already exists", "Das Objekt ist bereits vorhanden"},
	CodeNoSuchAttribute:     {"The specified directory service attribute or value does not exist", "Das angegebene Verzeichnisdienstattribut oder der Wert ist nicht vorhanden"},
	CodeNoRIDs:              {"The directory service was unable to allocate a relative identifier", "Der Verzeichnisdienst konnte keine relative Kennung reservieren"},
	CodeClassViolation:      {"The requested operation did not satisfy one or more constraints associated with the class of the object", "Der angeforderte Vorgang erfüllt mindestens eine Bedingung der Objektklasse nicht"},
	CodeNonLeaf:             {"The directory service can perform the requested operation only on a leaf object", "Der Verzeichnisdienst kann den angeforderten Vorgang nur für ein Blattobjekt ausführen"},
	CodeOnRDN:               {"The directory service cannot perform the requested operation on the RDN attribute of an object", "Der Vorgang kann für das RDN-Attribut eines Objekts nicht ausgeführt werden"},
	CodeModifyClass:         {"The directory service detected an attempt to modify the object class of an object", "Es wurde versucht, die Objektklasse eines Objekts zu ändern"},
	CodeReferral:            {"A referral was returned from the server", "Eine Referenzauswertung wurde vom Server zurückgesendet"},
	CodeInappropriateMatch:  {"There was an inappropriate matching", "Es liegt eine unzulässige Übereinstimmung vor"},
	CodeConstraint:          {"A constraint violation occurred", "Eine Einschränkung wurde verletzt"},
	CodeNoSuchObject:        {"There is no such object on the server", "Dieses Objekt ist auf dem Server nicht vorhanden"},
	CodeInvalidDN:           {"An invalid dn syntax has been specified", "Es wurde eine ungültige DN-Syntax angegeben"},
	CodeUnwilling:           {"The server is unwilling to process the request", "Der Server kann die Anforderung nicht verarbeiten"},
	CodeNaming:              {"There is a naming violation", "Es liegt eine Namensverletzung vor"},
	CodeFilterUnknown:       {"The search filter cannot be recognized", "Der Suchfilter wurde nicht erkannt"},
	CodeNameExists:          {"An attempt was made to add an object to the directory with a name that is already in use", "Es wurde versucht, dem Verzeichnis ein Objekt mit einem bereits verwendeten Namen hinzuzufügen"},
	CodeNotOnObject:         {"The attribute specified in the operation is not present on the object", "Das im Vorgang angegebene Attribut ist für das Objekt nicht vorhanden"},
	CodeIllegalModify:       {"Illegal modify operation. Some aspect of the modification is not permitted", "Unzulässiger Änderungsvorgang. Ein Aspekt der Änderung ist nicht erlaubt"},
	CodeClassRequired:       {"The object class attribute must be specified", "Das Objektklassenattribut muss angegeben werden"},
	CodeMissingRequired:     {"A required attribute is missing", "Ein erforderliches Attribut fehlt"},
	CodeNotDefinedForClass:  {"An attempt was made to modify an object to include an attribute that is not legal for its class", "Es wurde versucht, einem Objekt ein für seine Klasse unzulässiges Attribut hinzuzufügen"},
	CodeSingleValue:         {"Multiple values were specified for an attribute that can have only one value", "Für ein Attribut, das nur einen Wert haben darf, wurden mehrere Werte angegeben"},
	CodeRange:               {"A value for the attribute was not in the acceptable range of values", "Ein Attributwert liegt nicht im zulässigen Bereich"},
	CodeValueExists:         {"The specified value already exists", "Der angegebene Wert ist bereits vorhanden"},
	CodeMissingAttribute:    {"The attribute cannot be removed because it is not present on the object", "Das Attribut kann nicht entfernt werden, da es für das Objekt nicht vorhanden ist"},
	CodeMissingValue:        {"The attribute value cannot be removed because it is not present on the object", "Der Attributwert kann nicht entfernt werden, da er für das Objekt nicht vorhanden ist"},
	CodeNoParent:            {"The operation could not be performed because the object's parent is either uninstantiated or deleted", "Der Vorgang konnte nicht ausgeführt werden, da das übergeordnete Objekt nicht instanziiert oder gelöscht ist"},
	CodeNotFound:            {"Directory object not found", "Das Verzeichnisobjekt wurde nicht gefunden"},
	CodeBadNameSyntax:       {"The object name has bad syntax", "Der Objektname hat eine ungültige Syntax"},
	CodeInsufficientRights:  {"Insufficient access rights to perform the operation", "Die Zugriffsrechte reichen für diesen Vorgang nicht aus"},
	CodeIllegalSuperior:     {"The object cannot be added because the parent is not on the list of possible superiors", "Das Objekt kann nicht hinzugefügt werden, da das übergeordnete Objekt nicht zulässig ist"},
	CodeOwnedBySAM:          {"Access to the attribute is not permitted because the attribute is owned by the Security Accounts Manager (SAM)", "Der Zugriff auf das Attribut ist nicht zulässig, da es der Sicherheitskontenverwaltung (SAM) gehört"},
	CodeNameTypeUnknown:     {"The directory service cannot get the attribute type for a name", "Der Attributtyp eines Namens kann nicht ermittelt werden"},
	CodeCannotDelete:        {"The requested delete operation could not be performed", "Der angeforderte Löschvorgang konnte nicht ausgeführt werden"},
	CodeInvalidGroupType:    {"The specified group type is invalid", "Der angegebene Gruppentyp ist ungültig"},
	CodeGlobalNoLocal:       {"A global group cannot have a local group as a member", "Eine globale Gruppe kann keine lokale Gruppe als Mitglied haben"},
	CodeGlobalNoUniversal:   {"A global group cannot have a universal group as a member", "Eine globale Gruppe kann keine universelle Gruppe als Mitglied haben"},
	CodeUniversalNoLocal:    {"A universal group cannot have a local group as a member", "Eine universelle Gruppe kann keine lokale Gruppe als Mitglied haben"},
	CodeGlobalNoCrossDomain: {"A global group cannot have a cross-domain member", "Eine globale Gruppe kann kein domänenübergreifendes Mitglied haben"},
	CodeLocalNoCrossLocal:   {"A local group cannot have another cross domain local group as a member", "Eine lokale Gruppe kann keine lokale Gruppe einer anderen Domäne als Mitglied haben"},
	CodePrimaryMembers:      {"A group with primary members cannot change to a security-disabled group", "Eine Gruppe mit primären Mitgliedern kann nicht in eine Gruppe ohne Sicherheit umgewandelt werden"},
	CodeFSPInUniversal:      {"Foreign security principals cannot be members of universal groups", "Fremde Sicherheitsprinzipale können keine Mitglieder universeller Gruppen sein"},
	CodeCriticalObject:      {"Critical Directory Service System objects cannot be deleted during tree delete operations. The tree delete may have been partially performed", "Wichtige Systemobjekte des Verzeichnisdienstes können beim Löschen einer Struktur nicht gelöscht werden. Der Vorgang wurde möglicherweise teilweise ausgeführt"},
	CodeNotOnReadOnlyDC:     {"The requested operation is not supported on a read-only domain controller", "Der Vorgang wird auf einem schreibgeschützten Domänencontroller nicht unterstützt"},
	CodeSPNExists:           {"The operation failed because SPN value provided for addition/modification is not unique forest-wide", "Der Vorgang ist fehlgeschlagen, da der angegebene SPN-Wert in der Gesamtstruktur nicht eindeutig ist"},
	CodeUPNExists:           {"The operation failed because UPN value provided for addition/modification is not unique forest-wide", "Der Vorgang ist fehlgeschlagen, da der angegebene UPN-Wert in der Gesamtstruktur nicht eindeutig ist"},
}
