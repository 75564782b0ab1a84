# What only callers with the scope 'privileged' may change, because it leads to the domain, and why. This is the
# only list; the manual shows it. Keys are used by the functions that guard.

# what: for the manual. why: for the sentence "Changing '...' needs the scope 'privileged': ...".
$GatewayGuards = [ordered]@{
    adminCount = @{ what = 'objects with `adminCount=1`'; why = 'it is protected by AdminSDHolder (adminCount=1)' }
    critical   = @{ what = 'critical system objects'; why = 'it is a critical system object' }
    builtIn    = @{ what = 'built-in accounts and groups: krbtgt, Administrator, all with a RID below 1000'; why = 'it is a built-in account or group' }
    nested     = @{
        what = 'groups nested in a built-in or guarded group'
        why  = 'it is nested in a built-in or guarded group, whose members change with its own'
    }
    krbtgt     = @{
        what = 'the accounts that hold the keys of read-only domain controllers and of Microsoft Entra Kerberos: `krbtgt_*`'
        why  = 'it holds the key by which a read-only domain controller or Microsoft Entra Kerberos issues tickets'
    }
    controller = @{ what = 'domain controllers'; why = 'it is a domain controller' }
    self       = @{ what = 'the account that the gateway runs as: user, gMSA or computer'; why = 'it is the account the gateway runs as' }
    machine    = @{ what = 'the computer that the gateway runs on'; why = 'it is the computer the gateway runs on, which can act as the gateway' }
    rights     = @{
        what = 'the groups of that account and of that computer, or those of `limits.guardedGroups`; their members'
        why  = 'it has a share in the rights of the gateway'
    }
    role       = @{
        what = 'the groups of `signIn.roles`, the groups nested in them, and their members'
        why  = 'its members may use this gateway'
    }
    limit      = @{
        what = 'the groups themselves that limits of tokens, users and roles name, except for callers with such limits'
        why  = 'limits of credentials name it'
    }
    place      = @{
        what = 'anything created in, moved into or changed below `OU=Domain Controllers`'
        why  = 'the policies of domain controllers apply there'
    }
    tree       = @{ what = 'OUs with any of these below them: moving, renaming and removing'; why = 'guarded objects lie below it' }
    msdcs      = @{ what = 'DNS: zones and names with a label `_msdcs`'; why = 'domain controllers find each other by the names in it' }
    locator    = @{
        what = 'DNS: names with a label `_ldap`, `_kerberos`, `_kpasswd`, `_gc`, `DomainDnsZones` or `ForestDnsZones`; `_sites`, `_tcp`, `_udp` of a domain'
        why  = 'clients find domain controllers by such names'
    }
    apex       = @{ what = 'DNS: records at the name of a domain itself'; why = 'it is the name of the domain' }
    wildcard   = @{ what = 'DNS: names with a label `*`'; why = 'a wildcard answers for every name that does not exist' }
    wpad       = @{ what = 'DNS: names that begin with `wpad`'; why = 'browsers take their proxy from this name' }
    isatap     = @{ what = 'DNS: names that begin with `isatap`'; why = 'hosts send their traffic through a router of this name' }
    host       = @{ what = 'DNS: names of domain controllers'; why = 'it is the name of a domain controller' }
    gateway    = @{
        what = 'DNS: the names by which clients find this gateway: its host, its certificate, the host of `http.listen`, and the hosts of its cluster'
        why  = 'clients find this gateway by it'
    }
    named      = @{ what = 'DNS: the names of `limits.guardedNames`'; why = 'the settings of this gateway guard it' }
    speaks     = @{
        what = 'DNS: names with a label that begins with `_`, such as `_acme-challenge`, `_dmarc`, `_domainkey`, if the name behind it is guarded'
        why  = 'it speaks for the name behind it'
    }
    update     = @{
        what = 'DNS: the dynamic updates and the replication scope of zones, other updates than the default of a new one'
        why  = 'it decides who may write the names of the zone'
    }
    aging      = @{ what = 'DNS: the aging of zones'; why = 'records that are not refreshed in time are removed' }
    nameServer = @{ what = 'DNS: the name servers of zones'; why = 'resolvers ask them for all names of the zone' }
    forwarder  = @{ what = 'DNS: conditional forwarders'; why = 'a forwarder diverts all names below its own' }
    foreign    = @{
        what = 'DNS: new zones with the name of a top-level domain, or with a public name outside the domains and zones of this server'
        why  = 'the zone takes all names below its own from the Internet'
    }
    reverse    = @{ what = 'DNS: reverse zones with records of domain controllers'; why = 'it has records of domain controllers' }
}

# The groups whose members, at any depth, are guarded with them. A group is given by its RID in the domain, by its
# SID, or by its account name if Windows gives it no fixed RID and the same name in every language (facts E74).
$GatewayGuardedGroups = @(
    @{ sid = 'S-1-5-32-544'; name = 'Administrators'; why = 'which has full control of the domain' }
    @{ rid = '512'; name = 'Domain Admins'; why = 'which has full control of the domain' }
    @{ rid = '519'; name = 'Enterprise Admins'; why = 'which has full control of the forest' }
    @{ rid = '518'; name = 'Schema Admins'; why = 'which can change the schema of the forest' }
    @{ rid = '520'; name = 'Group Policy Creator Owners'; why = 'which can write group policies' }
    @{ rid = '517'; name = 'Cert Publishers'; why = 'which can issue certificates that log on as anybody' }
    @{ rid = '526'; name = 'Key Admins'; why = 'which can give any account of the domain a key to log on with' }
    @{ rid = '527'; name = 'Enterprise Key Admins'; why = 'which can give any account of the forest a key to log on with' }
    @{ rid = '516'; name = 'Domain Controllers'; why = 'which hold all secrets of the domain' }
    @{ rid = '521'; name = 'Read-only Domain Controllers'; why = 'which hold secrets of the domain' }
    @{ rid = '498'; name = 'Enterprise Read-only Domain Controllers'; why = 'which hold secrets of the domain' }
    @{ rid = '522'; name = 'Cloneable Domain Controllers'; why = 'which can be cloned with all secrets of the domain' }
    @{ sid = 'S-1-5-32-548'; name = 'Account Operators'; why = 'which can change most accounts' }
    @{ sid = 'S-1-5-32-549'; name = 'Server Operators'; why = 'which can change the services of domain controllers' }
    @{ sid = 'S-1-5-32-550'; name = 'Print Operators'; why = 'which can load drivers on domain controllers' }
    @{ sid = 'S-1-5-32-551'; name = 'Backup Operators'; why = 'which can read and replace every file of domain controllers' }
    @{ sid = 'S-1-5-32-552'; name = 'Replicator'; why = 'which AdminSDHolder protects' }
    @{ sid = 'S-1-5-32-557'; name = 'Incoming Forest Trust Builders'; why = 'which can create trusts' }
    @{ account = 'DnsAdmins'; name = 'DnsAdmins'; why = 'which can make the DNS service of domain controllers load a DLL' }
    @{ account = 'DnsUpdateProxy'; name = 'DnsUpdateProxy'; why = 'whose DNS records anybody may take over' }
)

# Ends a request that needs the scope 'privileged'. Target describes the object of the change, as far as the caller
# may see it.
function Stop-GatewayGuarded {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Target,
        [Parameter(Mandatory)] [string] $Why,
        [Parameter(Mandatory)] [string] $Arg
    )
    Stop-Gateway -Code 'forbidden' -Arg $Arg -Message "Changing '$Target' needs the scope 'privileged': $Why."
}
