package texts

// guards contains the reasons why objects are guarded, by the reasons that scripts give. A reason completes a
// sentence.
var guards = table{
	"guard.it is protected by AdminSDHolder (adminCount=1)": {
		"it is protected by AdminSDHolder (adminCount=1)", "AdminSDHolder schützt es (adminCount=1)",
	},
	"guard.it is a critical system object": {"it is a critical system object", "es ist ein kritisches Systemobjekt"},
	"guard.it is a built-in account or group": {
		"it is a built-in account or group", "es ist ein vordefiniertes Konto oder eine vordefinierte Gruppe",
	},
	"guard.it is nested in a built-in or guarded group, whose members change with its own": {
		"it is nested in a built-in or guarded group, whose members change with its own",
		"es ist Mitglied einer vordefinierten oder geschützten Gruppe, deren Mitglieder sich mit seinen ändern",
	},
	"guard.it holds the key by which a read-only domain controller or Microsoft Entra Kerberos issues tickets": {
		"it holds the key by which a read-only domain controller or Microsoft Entra Kerberos issues tickets",
		"es hat den Schlüssel, mit dem ein schreibgeschützter Domänencontroller oder Microsoft Entra Kerberos " +
			"Tickets ausstellt",
	},
	"guard.it is a domain controller": {"it is a domain controller", "es ist ein Domänencontroller"},
	"guard.it is the account the gateway runs as": {
		"it is the account the gateway runs as", "es ist das Konto, unter dem das Gateway läuft",
	},
	"guard.it is the computer the gateway runs on, which can act as the gateway": {
		"it is the computer the gateway runs on, which can act as the gateway",
		"es ist der Computer, auf dem das Gateway läuft und der wie das Gateway handeln kann",
	},
	"guard.it has a share in the rights of the gateway": {
		"it has a share in the rights of the gateway", "es hat Anteil an den Rechten des Gateways",
	},
	"guard.its members may use this gateway": {
		"its members may use this gateway", "seine Mitglieder dürfen dieses Gateway benutzen",
	},
	"guard.limits of credentials name it": {
		"limits of roles or tokens name it", "Grenzen von Rollen oder Tokens nennen es",
	},
	"guard.the policies of domain controllers apply there": {
		"the policies of domain controllers apply there", "dort gelten die Richtlinien der Domänencontroller",
	},
	"guard.guarded objects lie below it": {"guarded objects lie below it", "darunter liegen geschützte Objekte"},
	"guard.domain controllers find each other by the names in it": {
		"domain controllers find each other by the names in it",
		"Domänencontroller finden einander über die Namen darin",
	},
	"guard.clients find domain controllers by such names": {
		"clients find domain controllers by such names", "über solche Namen finden Clients Domänencontroller",
	},
	"guard.it is the name of the domain": {"it is the name of the domain", "es ist der Name der Domäne"},
	"guard.a wildcard answers for every name that does not exist": {
		"a wildcard answers for every name that does not exist",
		"ein Platzhalter antwortet für jeden Namen, den es nicht gibt",
	},
	"guard.browsers take their proxy from this name": {
		"browsers take their proxy from this name", "von diesem Namen holen Browser ihren Proxy",
	},
	"guard.hosts send their traffic through a router of this name": {
		"hosts send their traffic through a router of this name",
		"über einen Router dieses Namens senden Computer ihre Daten",
	},
	"guard.it is the name of a domain controller": {
		"it is the name of a domain controller", "es ist der Name eines Domänencontrollers",
	},
	"guard.clients find this gateway by it": {"clients find this gateway by it", "darüber finden Clients dieses Gateway"},
	"guard.the settings of this gateway guard it": {
		"the settings of this gateway guard it", "die Einstellungen dieses Gateways schützen es",
	},
	"guard.it speaks for the name behind it": {
		"it speaks for the name behind it", "es spricht für den Namen dahinter",
	},
	"guard.it decides who may write the names of the zone": {
		"it decides who may write the names of the zone",
		"es entscheidet, wer die Namen der Zone schreiben darf",
	},
	"guard.records that are not refreshed in time are removed": {
		"records that are not refreshed in time are removed",
		"Einträge, die nicht rechtzeitig erneuert werden, werden entfernt",
	},
	"guard.resolvers ask them for all names of the zone": {
		"resolvers ask them for all names of the zone", "bei ihnen werden alle Namen der Zone erfragt",
	},
	"guard.a forwarder diverts all names below its own": {
		"a forwarder diverts all names below its own", "eine Weiterleitung lenkt alle Namen unter ihrem um",
	},
	"guard.the zone takes all names below its own from the Internet": {
		"the zone takes all names below its own from the Internet",
		"die Zone nimmt dem Internet alle Namen unter ihrem",
	},
	"guard.it has records of domain controllers": {
		"it has records of domain controllers", "sie hat Einträge von Domänencontrollern",
	},
}

// Guarded returns the text for a reason that a script gives. It returns nil if the script has made the reason
// of several parts, such as names of groups.
func Guarded(why string) Text {
	if key := "guard." + why; Has(key) {
		return Of(key)
	}
	return nil
}
