# Functions for the other domains of the forest. The pinned server knows the objects of these domains if it is a
# global catalog.

# Returns the container with the names of the forest's domains, or $null if the account may not read it.
function Get-GatewayPartition {
    [CmdletBinding()]
    param([string[]] $Property = @(), [Parameter(Mandatory)] [string] $Server)
    $dn = 'CN=Partitions,' + [string](Get-ADRootDSE -Server $Server).configurationNamingContext
    try {
        Get-ADObject -Identity $dn -Properties $Property -Server $Server
    } catch {
        if ($_.Exception.GetType().Name -ne 'ADIdentityNotFoundException') { throw }
    }
}

# Returns the other domains of the forest, each with its dn, dns and netBios. They are read once per session, like
# the result of Get-GatewayDomain.
function Get-GatewayOtherDomain {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    $own = Get-GatewayDomain -Server $Server
    if ($null -eq $own.others) {
        $others = @()
        $container = Get-GatewayPartition -Server $Server
        if ($null -ne $container) {
            $search = @{ Filter = '(nETBIOSName=*)'; Property = @('dnsRoot', 'nCName', 'nETBIOSName'); Scope = 'OneLevel'; Server = $Server }
            $others = @(foreach ($entry in @(Get-GatewayObject -Class 'any' -Base ([string]$container.DistinguishedName) @search)) {
                    $dn = [string]$entry.nCName
                    if ($dn.Equals($own.dn, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
                    @{ dn = $dn; dns = [string]@($entry.dnsRoot)[0]; netBios = [string]$entry.nETBIOSName }
                })
        }
        $own['others'] = $others
    }
    $own.others
}

# Returns the domain of the forest that contains a distinguished name. It is the one with the longest name, because
# domains may be below others.
function Get-GatewayDomainAround {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Dn, [Parameter(Mandatory)] [string] $Server)
    $around = Get-GatewayDomain -Server $Server
    $length = 0
    if ($Dn.EndsWith(',' + $around.dn, [System.StringComparison]::OrdinalIgnoreCase)) { $length = $around.dn.Length }
    foreach ($domain in @(Get-GatewayOtherDomain -Server $Server)) {
        if ($domain.dn.Length -le $length) { continue }
        if (-not $Dn.EndsWith(',' + $domain.dn, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
        $around = $domain
        $length = $domain.dn.Length
    }
    $around
}

# Returns whether an object is in another domain of the forest.
function Test-GatewayForeign {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Dn, [Parameter(Mandatory)] [string] $Server)
    $around = Get-GatewayDomainAround -Dn $Dn -Server $Server
    -not $around.dn.Equals((Get-GatewayDomain -Server $Server).dn, [System.StringComparison]::OrdinalIgnoreCase)
}

# Returns the objects of one domain of the forest that match an LDAP filter. Objects of other domains are read from
# the global catalog (facts G14). Objects in domains below the given one are left out.
function Get-GatewayDomainObject {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Domain,
        [Parameter(Mandatory)] [string] $Filter,
        [string[]] $Property = @(),
        [Parameter(Mandatory)] [string] $Server
    )
    $search = @{ Class = 'any'; Filter = $Filter; Property = $Property; Base = $Domain.dn; Server = $Server }
    $own = Get-GatewayDomain -Server $Server
    if ($own.dn.Equals($Domain.dn, [System.StringComparison]::OrdinalIgnoreCase)) { return (Get-GatewayObject @search) }
    $search['Server'] = $Server + ':3268'
    $found = @()
    try {
        $found = @(Get-GatewayObject @search)
    } catch {
        # The catalog does not have the domain yet.
        if ($_.Exception.GetType().Name -ne 'ADIdentityNotFoundException') { throw }
    }
    foreach ($item in $found) {
        $around = Get-GatewayDomainAround -Dn ([string]$item.DistinguishedName) -Server $Server
        if ($around.dn.Equals($Domain.dn, [System.StringComparison]::OrdinalIgnoreCase)) { $item }
    }
}

# Returns whether the server has a global catalog. It is asked only if the forest has other domains.
function Test-GatewayCatalog {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    [bool](Get-ADDomainController -Identity $Server -Server $Server).IsGlobalCatalog
}

# Finds objects of one domain by names of members: GUID, SID, distinguished name, account name with or without the $
# of computers, or DOMAIN\name. Returns a table with the objects of each name.
function Find-GatewayInDomain {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Identity,
        [Parameter(Mandatory)] [hashtable] $Domain,
        [string[]] $Property = @(),
        [Parameter(Mandatory)] [string] $Server
    )
    $search = @{ Domain = $Domain; Property = $Property; Server = $Server }
    $found = @{}
    $names = [System.Collections.Generic.List[string]]::new()
    $terms = [System.Collections.Generic.List[string]]::new()
    $left = $Identity.Length
    foreach ($name in $Identity) {
        $left--
        $names.Add($name)
        $escaped = Get-GatewayLdapEscaped -Value $name
        if (($name -replace '^\{(.*)\}$', '$1') -match '^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$') {
            $terms.Add('(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$name)) + ')')
        } elseif (Test-GatewaySid -Text $name) {
            $terms.Add('(objectSid=' + $escaped + ')')
        } elseif ($name.Contains('=')) {
            $terms.Add('(distinguishedName=' + $escaped + ')')
        } else {
            $account = Get-GatewayLdapEscaped -Value (Get-GatewayAccountOf -Identity $name -Domain $Domain -Server $Server)
            if ($account -ne '') { $terms.Add('(sAMAccountName=' + $account + ')(sAMAccountName=' + $account + '$)') }
        }
        if ($names.Count -lt 50 -and $left -gt 0) { continue }
        $objects = @()
        if ($terms.Count -gt 0) { $objects = @(Get-GatewayDomainObject -Filter ('(|' + ($terms -join '') + ')') @search) }
        foreach ($one in $names) {
            $plain = Get-GatewayAccountOf -Identity $one -Domain $Domain -Server $Server
            $found[$one] = @(Select-GatewayNamed -Object $objects -Identity $one -Account $plain)
            if ($found[$one].Length -gt 0 -or -not $one.Contains('=')) { continue }
            # There are several ways to write a distinguished name (facts C22).
            $found[$one] = @(Get-GatewayDomainObject -Filter ('(distinguishedName=' + (Get-GatewayLdapEscaped -Value $one) + ')') @search)
        }
        $names.Clear()
        $terms.Clear()
    }
    $found
}

# Finds objects of other domains by such names. A name without a domain does not match any. Returns a table of the
# objects that were found.
function Find-GatewayForeign {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Identity,
        [string[]] $Property = @(),
        [Parameter(Mandatory)] [string] $Server
    )
    $found = @{}
    foreach ($domain in @(Get-GatewayOtherDomain -Server $Server)) {
        $here = Find-GatewayInDomain -Identity $Identity -Domain $domain -Property $Property -Server $Server
        foreach ($name in $Identity) {
            $objects = @($here[$name])
            if ($objects.Length -eq 0) { continue }
            if ($found.ContainsKey($name)) { $objects = @($found[$name]) + $objects }
            $found[$name] = $objects
        }
    }
    $found
}

# Returns the account name that a name of a member has in a domain, or '' if the name belongs to another domain.
function Get-GatewayAccountOf {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Identity,
        [Parameter(Mandatory)] [hashtable] $Domain,
        [Parameter(Mandatory)] [string] $Server
    )
    if (-not $Identity.Contains('\')) {
        if ($Domain.dn.Equals((Get-GatewayDomain -Server $Server).dn, [System.StringComparison]::OrdinalIgnoreCase)) { return $Identity }
        return ''
    }
    $prefix = $Identity -replace '\\.*$', ''
    foreach ($name in @($Domain.netBios, $Domain.dns)) {
        if ($prefix.Equals($name, [System.StringComparison]::OrdinalIgnoreCase)) { return $Identity.Substring($prefix.Length + 1) }
    }
    ''
}

# Returns a group with the names of its members. For groups of other domains, the catalog has only the members of
# universal groups (facts G15). For other groups, a warning is added and nothing is returned.
function Get-GatewayLinked {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Group, [Parameter(Mandatory)] [string] $Server)
    $dn = [string]$Group.DistinguishedName
    if (-not (Test-GatewayForeign -Dn $dn -Server $Server)) {
        return (Get-ADGroup -Identity ([string]$Group.ObjectGUID) -Properties @('member') -Server $Server)
    }
    $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Group.ObjectGUID)) + ')'
    $search = @{ Domain = (Get-GatewayDomainAround -Dn $dn -Server $Server); Property = @('member', 'groupType'); Server = $Server }
    $read = @(Get-GatewayDomainObject -Filter $filter @search)[0]
    if ($null -ne $read -and ([long]$read.groupType -band $GatewayGroupUniversal) -ne 0) { return $read }
    $message = "The members of '$dn' are not known here: of groups of other domains a global catalog has those of universal groups only."
    Add-GatewayWarning -Code 'no_catalog' -Target $dn -Message $message
}

# Returns the members of a group that are in other domains. The link table of the domain has their names, and the
# catalog has the objects. Without a catalog it adds a warning, or with All ends the request.
function Get-GatewayForeignMember {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [string[]] $Property = @(),
        [Parameter(Mandatory)] [string] $Server,
        [switch] $All
    )
    if (@(Get-GatewayOtherDomain -Server $Server).Length -eq 0) { return }
    $read = Get-GatewayLinked -Group $Group -Server $Server
    if ($null -eq $read) { return }
    $names = [string[]]@(foreach ($dn in @($read.member)) {
            if ($null -ne $dn -and (Test-GatewayForeign -Dn ([string]$dn) -Server $Server)) { [string]$dn }
        })
    if ($names.Length -eq 0) { return }
    if (-not (Test-GatewayCatalog -Server $Server)) {
        $message = "$($names.Length) members of the group are of other domains. They are not known, because $Server has no global catalog."
        if ($All) { Stop-Gateway -Code 'conflict' -Arg 'Members' -Message ($message + ' Nothing was changed.') }
        Add-GatewayWarning -Code 'no_catalog' -Target ([string]$Group.DistinguishedName) -Message $message
        return
    }
    $found = Find-GatewayForeign -Identity $names -Property $Property -Server $Server
    foreach ($name in $names) { if ($found.ContainsKey($name)) { $found[$name] } }
}

# Refuses a value that must be unique in the forest if an object of another domain has it.
function Assert-GatewayForestFree {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Attribute,
        [Parameter(Mandatory)] [string] $Value,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg,
        [Parameter(Mandatory)] [string] $What
    )
    $others = @(Get-GatewayOtherDomain -Server $Server)
    if ($others.Length -eq 0 -or -not (Test-GatewayCatalog -Server $Server)) { return }
    $filter = '(' + (Get-GatewayLdapEscaped -Value $Attribute) + '=' + (Get-GatewayLdapEscaped -Value $Value) + ')'
    foreach ($domain in $others) {
        foreach ($holder in @(Get-GatewayDomainObject -Domain $domain -Filter $filter -Server $Server)) {
            $dn = [string]$holder.DistinguishedName
            $by = " by '$dn', in another domain of the forest"
            if (-not (Test-GatewayAllowed -Dn $dn -AllowedOU $AllowedOU -Server $Server)) {
                $script:GatewayOutside = $true
                $by = ''
            }
            Stop-Gateway -Code 'conflict' -Arg $Arg -Message "$What is taken$by."
        }
    }
}
