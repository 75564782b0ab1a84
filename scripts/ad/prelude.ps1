# Functions shared by the scripts of the directory: domain, lookups, limits, projections. They are loaded after the
# common prelude, in sessions with the ActiveDirectory module.

#region Domain and limits

# Returns the domain of the pinned server. It is read once per session, because it does not change while the gateway
# runs.
function Get-GatewayDomain {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    if (-not $GatewayDomains.ContainsKey($Server)) {
        $domain = Get-ADDomain -Server $Server
        $GatewayDomains[$Server] = @{
            dn        = [string]$domain.DistinguishedName
            dns       = [string]$domain.DNSRoot
            netBios   = [string]$domain.NetBIOSName
            sid       = [string]$domain.DomainSID
            controllers = [string]$domain.DomainControllersContainer
            deleted = [string]$domain.DeletedObjectsContainer
        }
    }
    $GatewayDomains[$Server]
}

# Returns the default containers for new accounts: that of users and groups, and that of computers. They can be
# renamed, moved and replaced (redirusr, redircmp), so they are read each time they are needed.
function Get-GatewayDefaultPlace {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    $domain = Get-ADDomain -Server $Server
    @{ users = [string]$domain.UsersContainer; computers = [string]$domain.ComputersContainer }
}

# Finds the container in which an account is created, which is the given one or, if none is given, the default one
# of the domain.
function Find-GatewayAccountPlace {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyString()] [string] $OUPath,
        [Parameter(Mandatory)] [ValidateSet('users', 'computers')] [string] $Default,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'find parent' -Arg 'OUPath'
    if ($OUPath) { return (Find-GatewayContainer -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath' -Code 'unprocessable') }
    $dn = (Get-GatewayDefaultPlace -Server $Server)[$Default]
    Assert-GatewayAllowed -Dn $dn -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
    $place = Find-GatewayContainer -Dn $dn -Server $Server -Arg 'OUPath' -Code 'unprocessable' -Quiet
    if ($null -ne $place) { return $place }
    $tool = 'redirusr.exe'
    if ($Default -eq 'computers') { $tool = 'redircmp.exe' }
    $message = "The default container of the domain for new $Default, '$dn', does not exist. " +
        "Give an OUPath, or have an administrator of the domain name another default container with $tool."
    Stop-Gateway -Code 'unprocessable' -Arg 'OUPath' -Message $message
}

# Refuses to remove a tree with a default container of the domain, because accounts could then be created only in a
# named container.
function Assert-GatewayNoDefaultPlace {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    Set-GatewayStep -Label 'check default containers' -Arg $Arg
    $places = Get-GatewayDefaultPlace -Server $Server
    foreach ($kind in @('users', 'computers')) {
        $place = $places[$kind]
        if (-not (Test-GatewayWithin -Dn $place -Base @($Dn))) { continue }
        $tool = 'redirusr.exe'
        if ($kind -eq 'computers') { $tool = 'redircmp.exe' }
        $what = "'$Dn' is"
        if (-not $place.Equals($Dn, [System.StringComparison]::OrdinalIgnoreCase)) { $what = "'$place' lies below '$Dn' and is" }
        $message = "$what the default container of the domain for new $kind; it is not removed. " +
            "An administrator of the domain names another one with $tool first."
        Stop-Gateway -Code 'protected' -Arg $Arg -Message $message
    }
}

# Returns whether an object is one of the containers or below one. All names come from the directory itself, so they
# can differ only in case.
function Test-GatewayWithin {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Base
    )
    foreach ($container in $Base) {
        if ($Dn.Equals($container, [System.StringComparison]::OrdinalIgnoreCase)) { return $true }
        if ($Dn.EndsWith(',' + $container, [System.StringComparison]::OrdinalIgnoreCase)) { return $true }
    }
    return $false
}

# Returns the caller's allowed OUs in the directory's spelling. They are read once per request. An OU that does not
# exist allows nothing. $null means no limit.
function Get-GatewayAllowedDn {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [string] $Server
    )
    if ($null -eq $AllowedOU -or $AllowedOU.Length -eq 0) { return $null }
    $key = $AllowedOU -join $GatewayLineFeed
    if (-not $script:GatewayAllowed.ContainsKey($key)) {
        $filter = @(foreach ($ou in $AllowedOU) { '(distinguishedName=' + (Get-GatewayLdapEscaped -Value $ou) + ')' }) -join ''
        $search = @{ SearchBase = (Get-GatewayDomain -Server $Server).dn; SearchScope = 'Subtree'; ResultSetSize = $null; Server = $Server }
        $found = [System.Collections.Generic.List[string]]::new()
        foreach ($container in @(Get-ADObject -LDAPFilter ('(|' + $filter + ')') @search)) { $found.Add([string]$container.DistinguishedName) }
        $script:GatewayAllowed[$key] = $found.ToArray()
    }
    , $script:GatewayAllowed[$key]
}

# Returns whether an object is in the caller's allowed OUs.
function Test-GatewayAllowed {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
    $null -eq $bases -or (Test-GatewayWithin -Dn $Dn -Base $bases)
}

# Refuses a parent outside the caller's allowed OUs. If the text of a given parent already shows that it is outside,
# the gateway refuses it before the script runs. This function is therefore needed mainly for default containers.
function Assert-GatewayAllowed {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [string] $Arg
    )
    if (-not (Test-GatewayAllowed -Dn $Dn -AllowedOU $AllowedOU -Server $Server)) {
        Stop-Gateway -Code 'limit' -Arg $Arg -Message 'The object lies outside the OUs that the caller is limited to.'
    }
}

# Refuses to rename, move or remove the OU of a limit itself, or to change its protection. Only those who set the
# limit should decide about its name and place.
function Assert-GatewayNoLimit {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    $bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
    if ($null -eq $bases) { return }
    foreach ($base in $bases) {
        if ($Dn.Equals($base, [System.StringComparison]::OrdinalIgnoreCase)) {
            $message = 'The OU is itself a limit of the caller: it may be read, described and filled, but not renamed, ' +
                'moved, removed or changed in its protection.'
            Stop-Gateway -Code 'limit' -Arg $Arg -Message $message
        }
    }
}

# Returns the objects found that the caller may see. Objects outside the caller's limits are treated as
# missing.
function Select-GatewayAllowed {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Found,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($null -ne $AllowedGroup -and $AllowedGroup.Length -gt 0) {
        Get-GatewayAllowedGroup -Group $Found -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server
        return
    }
    $bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
    foreach ($item in $Found) {
        if ($null -eq $bases -or (Test-GatewayWithin -Dn ([string]$item.DistinguishedName) -Base $bases)) { $item }
    }
}

# Completes the sentence that something was not found. For a caller with limits, the text is the same whether the
# object does not exist or is outside the limits.
function Get-GatewayScopeText {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU
    )
    if (($null -ne $AllowedOU -and $AllowedOU.Length -gt 0) -or ($null -ne $AllowedGroup -and $AllowedGroup.Length -gt 0)) {
        return ' within the limits of this credential'
    }
    ''
}

#endregion

#region Lookups

# Matches the classes whose purpose is to contain other objects (facts C30). Classes derived from them, such as
# those of group policies, match too.
$GatewayContainerFilter = '(|(objectClass=organizationalUnit)(objectClass=container)(objectClass=domainDNS)(objectClass=builtinDomain)' +
    '(objectClass=lostAndFound)(objectClass=msDS-QuotaContainer)(objectClass=msTPM-InformationObjectsContainer)' +
    '(objectClass=msDS-PasswordSettingsContainer)(objectClass=organization)(objectClass=locality)(objectClass=country)' +
    '(objectClass=dnsZone)(objectClass=dfsConfiguration)(objectClass=nTFRSSettings)(objectClass=fileLinkTracking)' +
    '(objectClass=linkTrackObjectMoveTable)(objectClass=linkTrackVolumeTable)(objectClass=msDFSR-GlobalSettings)' +
    '(objectClass=msDFSR-ReplicationGroup)(objectClass=msDFSR-Content)(objectClass=msDFSR-Topology))'

# Returns the objects of one class that match an LDAP filter, which the caller has built from escaped values.
function Get-GatewayObject {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [ValidateSet('user', 'group', 'computer', 'container', 'any')] [string] $Class,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Filter,
        [string[]] $Property = @(),
        [Parameter(Mandatory)] [string] $Base,
        [ValidateSet('Base', 'OneLevel', 'Subtree')] [string] $Scope = 'Subtree',
        [int] $Most = 0,
        [Parameter(Mandatory)] [string] $Server
    )
    $search = @{ SearchBase = $Base; SearchScope = $Scope; ResultSetSize = $null; Server = $Server }
    if ($Most -gt 0) { $search['ResultSetSize'] = $Most }
    if ($Property.Length -gt 0) { $search['Properties'] = $Property }
    switch ($Class) {
        'user' { Get-ADUser -LDAPFilter ('(&(objectCategory=person)(objectClass=user)' + $Filter + ')') @search }
        'group' { Get-ADGroup -LDAPFilter ('(&(objectCategory=group)' + $Filter + ')') @search }
        'computer' { Get-ADComputer -LDAPFilter ('(&(objectCategory=computer)(objectClass=computer)' + $Filter + ')') @search }
        'container' {
            Get-ADObject -LDAPFilter ('(&' + $GatewayContainerFilter + $Filter + ')') @search
        }
        'any' { Get-ADObject -LDAPFilter $Filter @search }
    }
}

# Reads the objects of a search again by their GUIDs, in searches of less than a page. The module computes
# ProtectedFromAccidentalDeletion from the parent, too, and reads the parent on a second connection while a search
# of several pages runs (facts D19). Objects that no longer exist are left out.
function Get-GatewayObjectAgain {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Guid,
        [Parameter(Mandatory)] [string[]] $Property,
        [Parameter(Mandatory)] [string] $Base,
        [Parameter(Mandatory)] [string] $Server
    )
    $search = @{ Class = 'any'; Property = $Property; Base = $Base; Server = $Server }
    $terms = [System.Collections.Generic.List[string]]::new()
    foreach ($one in $Guid) {
        $terms.Add('(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$one)) + ')')
        if ($terms.Count -ge 100) {
            Get-GatewayObject -Filter ('(|' + ($terms -join '') + ')') @search
            $terms.Clear()
        }
    }
    if ($terms.Count -gt 0) { Get-GatewayObject -Filter ('(|' + ($terms -join '') + ')') @search }
}

# Returns whether a text is the text form of a SID.
function Test-GatewaySid {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Text)
    $Text -match '^S-1-[0-9]{1,15}(-[0-9]{1,10}){1,15}$'
}

# Finds one account by GUID, SID, distinguished name or sAMAccountName, in this order, and for reads finally by its
# common name (facts C16-C22). Ends the request with not_found or ambiguous. The directory ignores diacritics (KB
# 938447), so an account that is to be changed must be named exactly, except for case. Accounts outside the caller's
# limits are treated as missing.
function Find-GatewayAccount {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [ValidateSet('user', 'group', 'computer')] [string] $Class,
        [Parameter(Mandatory)] [string] $Identity,
        [string[]] $Property = @(),
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg,
        [switch] $Write,
        [switch] $Quiet
    )
    $search = @{ Class = $Class; Property = $Property; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
    $limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
    $escaped = Get-GatewayLdapEscaped -Value $Identity
    $filters = [System.Collections.Generic.List[string]]::new()
    if (($Identity -replace '^\{(.*)\}$', '$1') -match '^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$') {
        $filters.Add('(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Identity)) + ')')
    }
    if (Test-GatewaySid -Text $Identity) { $filters.Add('(objectSid=' + $escaped + ')') }
    if ($Identity.Contains('=')) { $filters.Add('(distinguishedName=' + $escaped + ')') }
    $filters.Add('(sAMAccountName=' + $escaped + ')')
    if ($Class -eq 'computer') { $filters.Add('(sAMAccountName=' + $escaped + '$)') } # stored with its $ (facts E51)
    $outside = $false
    foreach ($filter in $filters) {
        $all = @(Get-GatewayObject -Filter $filter @search)
        $found = @(Select-GatewayAllowed -Found $all @limits)
        if ($found.Length -lt $all.Length) { $outside = $true }
        if ($found.Length -eq 1) {
            $account = [string]$found[0].SamAccountName
            if (-not $Write -or -not $filter.StartsWith('(sAMAccountName=', [System.StringComparison]::Ordinal)) { return $found[0] }
            if ($account.Equals($Identity, [System.StringComparison]::OrdinalIgnoreCase)) { return $found[0] }
            if ($account.Equals($Identity + '$', [System.StringComparison]::OrdinalIgnoreCase)) { return $found[0] }
            if ($Quiet) { return $null }
            $message = "No $Class has the account name '$Identity'. The directory takes it for '$account': use that account name to change it."
            Stop-Gateway -Code 'not_found' -Arg $Arg -Message $message
        }
    }
    $all = @(Get-GatewayObject -Filter ('(cn=' + $escaped + ')') @search)
    $named = @(Select-GatewayAllowed -Found $all @limits)
    if ($named.Length -lt $all.Length) { $outside = $true }
    if ($named.Length -eq 1 -and -not $Write) { return $named[0] }
    if ($named.Length -gt 1 -and -not $Write) {
        $names = @(foreach ($object in $named) { [string]$object.SamAccountName }) -join ', '
        Stop-Gateway -Code 'ambiguous' -Arg $Arg -Message "Several objects have the name '$Identity'. Use one of the account names: $names."
    }
    if ($outside -and $named.Length -eq 0) { $script:GatewayOutside = $true }
    if ($Quiet) { return $null }
    if ($named.Length -ge 1) {
        $names = @(foreach ($object in $named) { [string]$object.SamAccountName }) -join ', '
        $message = "No $Class has the account name '$Identity'. It is the common name of: $names. Use that account name to change it."
        Stop-Gateway -Code 'not_found' -Arg $Arg -Message $message
    }
    $message = "The $Class '$Identity' was not found" + (Get-GatewayScopeText -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU) + '.'
    if ($Identity -match '[@\\]' -or ($Class -eq 'computer' -and $Identity.Contains('.'))) {
        $message += ' It is looked for by GUID, SID, distinguished name and account name, not by UPN, DNS name or DOMAIN\name.'
    }
    Stop-Gateway -Code 'not_found' -Arg $Arg -Message $message
}

# Finds an OU, a container or the domain root by its distinguished name. Ends the request with Code if there is none
# within the caller's limits.
function Find-GatewayContainer {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [string[]] $Property = @(),
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg,
        [Parameter(Mandatory)] [string] $Code,
        [switch] $Quiet
    )
    $filter = '(distinguishedName=' + (Get-GatewayLdapEscaped -Value $Dn) + ')'
    $all = @(Get-GatewayObject -Class 'container' -Filter $filter -Property $Property -Base (Get-GatewayDomain -Server $Server).dn -Server $Server)
    $found = @(Select-GatewayAllowed -Found $all -AllowedOU $AllowedOU -Server $Server)
    if ($found.Length -eq 1) { return $found[0] }
    if ($all.Length -gt 0) { $script:GatewayOutside = $true }
    if ($Quiet) { return $null }
    Stop-Gateway -Code $Code -Arg $Arg -Message ("There is no OU or container '$Dn'" + (Get-GatewayScopeText -AllowedOU $AllowedOU) + '.')
}

# Returns the distinguished name of the place where a request searches, which is a container or another object that
# contains objects. Ends the request with not_found if there is none.
function Find-GatewaySearchBase {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    Set-GatewayStep -Label 'find search base' -Arg $Arg
    $container = Find-GatewayContainer -Dn $Dn -AllowedOU $AllowedOU -Server $Server -Arg $Arg -Code 'not_found' -Quiet
    if ($null -ne $container) { return [string]$container.DistinguishedName }
    $filter = '(distinguishedName=' + (Get-GatewayLdapEscaped -Value $Dn) + ')'
    $all = @(Get-GatewayObject -Class 'any' -Filter $filter -Base (Get-GatewayDomain -Server $Server).dn -Server $Server)
    foreach ($object in @(Select-GatewayAllowed -Found $all -AllowedOU $AllowedOU -Server $Server)) {
        $name = [string]$object.DistinguishedName
        if (Test-GatewayChild -Dn $name -Server $Server) { return $name }
    }
    $message = "There is no OU or container '$Dn', and no other object of that name that holds objects" +
        (Get-GatewayScopeText -AllowedOU $AllowedOU) + '.'
    Stop-Gateway -Code 'not_found' -Arg $Arg -Message $message
}

# Returns whether an object has children.
function Test-GatewayChild {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Dn, [Parameter(Mandatory)] [string] $Server)
    @(Get-ADObject -LDAPFilter '(objectClass=*)' -SearchBase $Dn -SearchScope OneLevel -ResultSetSize 1 -Server $Server).Length -gt 0
}

# Refuses names that another object already has: the account name in the domain, the UPN in the forest, and the name
# in the container, regardless of the class of the other object (facts C32). Except is the GUID of an object that
# may have the names. If the other object is outside the caller's limits, the refusal does not name it.
function Assert-GatewayNameFree {
    [CmdletBinding()]
    param(
        [string] $Account,
        [string] $Principal,
        [string] $Name,
        [string] $Parent,
        [string] $Except,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    Set-GatewayStep -Label 'check names' -Arg $Arg
    $root = (Get-GatewayDomain -Server $Server).dn
    $checks = [System.Collections.Generic.List[object]]::new()
    if ($Account) { $checks.Add(@{ text = $Account; filter = 'sAMAccountName'; base = $root; scope = 'Subtree' }) }
    if ($Principal) { $checks.Add(@{ text = $Principal; filter = 'userPrincipalName'; base = $root; scope = 'Subtree' }) }
    if ($Name) { $checks.Add(@{ text = $Name; filter = 'name'; base = $Parent; scope = 'OneLevel' }) }
    foreach ($check in $checks) {
        $filter = '(' + $check.filter + '=' + (Get-GatewayLdapEscaped -Value $check.text) + ')'
        foreach ($holder in @(Get-GatewayObject -Class 'any' -Filter $filter -Base $check.base -Scope $check.scope -Server $Server)) {
            $dn = [string]$holder.DistinguishedName
            if ([string]$holder.ObjectGUID -ne $Except) {
                $groups = $null
                if ([string]$holder.ObjectClass -eq 'group') { $groups = $AllowedGroup }
                $seen = @(Select-GatewayAllowed -Found @($holder) -AllowedGroup $groups -AllowedOU $AllowedOU -Server $Server)
                $by = ''
                if ($seen.Length -gt 0) { $by = " by '$dn'" } else { $script:GatewayOutside = $true }
                Stop-Gateway -Code 'conflict' -Arg $Arg -Message "The name '$($check.text)' is taken$by."
            }
        }
    }
    if ($Principal) {
        $forest = @{ Attribute = 'userPrincipalName'; Value = $Principal; What = "The name '$Principal'" }
        Assert-GatewayForestFree -AllowedOU $AllowedOU -Server $Server -Arg $Arg @forest
    }
}

# Sets one text attribute of an object, or clears it when the text is empty (facts E7).
function Set-GatewayText {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [string] $Attribute,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Text,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($Text.Length -eq 0) {
        Set-ADObject -Identity $Guid -Clear $Attribute -Server $Server -Confirm:$false
    } else {
        Set-ADObject -Identity $Guid -Replace @{ $Attribute = $Text } -Server $Server -Confirm:$false
    }
}

# Sorts objects of the directory by their upper-case names, then by distinguished name, both compared by code unit.
function Get-GatewaySorted {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Items,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
    $zero = [string][char]0
    $kept = [System.Collections.Generic.List[object]]::new()
    $keys = [System.Collections.Generic.List[string]]::new()
    foreach ($item in $Items) {
        $dn = [string]$item.DistinguishedName
        if ($null -eq $bases -or (Test-GatewayWithin -Dn $dn -Base $bases)) {
            $kept.Add($item)
            $keys.Add(([string]$item.Name).ToUpperInvariant() + $zero + $dn)
        }
    }
    $sorted = $kept.ToArray()
    $order = $keys.ToArray()
    [System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
    , $sorted
}

# Creates a list. Its records are sent in batches, in the order in which they are read, and the gateway sorts them by
# their keys, by code unit. With Most, the list is a page: the gateway keeps the Most records with the smallest keys
# from First on.
function New-GatewayListing {
    [CmdletBinding()]
    param([int] $Most = 0, [AllowNull()] [string] $First)
    @{
        most  = $Most
        first = ([string]$First).ToUpperInvariant()
        again = ''
        count = 0
        keys  = [System.Collections.Generic.List[string]]::new()
        texts = [System.Collections.Generic.List[string]]::new()
    }
}

# Sends the collected records of a list with their keys. With Hold, these are the last ones.
function Write-GatewayListing {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Listing, [switch] $Hold)
    $keys = $Listing['keys']
    $texts = $Listing['texts']
    if ($texts.Count -gt 0 -or $Listing['again'] -ne '') {
        $page = ''
        if ($Listing['most'] -gt 0) {
            $page = '"most":' + [string]$Listing['most'] + ',"first":"' + $Listing['first'] + '","again":"' + $Listing['again'] + '",'
        }
        $order = ConvertTo-Json -InputObject $keys.ToArray() -Compress
        $payload = '{' + $page + '"keys":' + $order + '}' + $GatewayLineFeed + ($texts -join $GatewayLineFeed)
        Write-GatewayFrame -Id $script:GatewayId -Kind 'keyed' -Payload $payload -Hold:([bool]$Hold)
    }
    $Listing['again'] = ''
    $keys.Clear()
    $texts.Clear()
}

# Begins a page again from a key: the gateway discards the records with this key and greater ones. Count is the
# number of the other records, some of which may not have been sent yet.
function Reset-GatewayListing {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Listing, [Parameter(Mandatory)] [string] $From, [Parameter(Mandatory)] [int] $Count)
    Write-GatewayListing -Listing $Listing
    $Listing['again'] = $From.ToUpperInvariant()
    $Listing['count'] = $Count
}

# Adds objects of the directory to a list, each with its record. A whole list is in the order of upper-case
# names, then of distinguished names, and a page in the order of the octets of the GUIDs.
function Add-GatewayListing {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Listing,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Item,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Record
    )
    $keys = $Listing['keys']
    $texts = $Listing['texts']
    $paged = [bool]($Listing['most'] -gt 0)
    $zero = [string][char]0
    for ($i = 0; $i -lt $Item.Length; $i++) {
        if ($paged) {
            $keys.Add([System.BitConverter]::ToString(([guid]$Item[$i].ObjectGUID).ToByteArray()).Replace('-', ''))
        } else {
            $keys.Add(([string]$Item[$i].Name).ToUpperInvariant() + $zero + [string]$Item[$i].DistinguishedName)
        }
        $texts.Add((ConvertTo-Json -InputObject $Record[$i] -Compress -Depth 4))
        if ($texts.Count -ge $GatewayBatchSize) { Write-GatewayListing -Listing $Listing }
    }
    $Listing['count'] += $Item.Length
}

#endregion

#region Records: ordered dictionaries of cast values (facts-5.1 K6). An absent text is ''.

$GatewayMaxFileTime = 2650467743999999999

# Returns a file time as RFC 3339. It is '' if the time means "not set" or "never" (facts E9), or is later than the
# last DateTime, the end of the year 9999.
function Get-GatewayFileTime {
    [CmdletBinding()]
    param([AllowNull()] [object] $Value)
    if ($null -eq $Value) { return '' }
    $ticks = [long]$Value
    if ($ticks -le 0 -or $ticks -gt $GatewayMaxFileTime) { return '' }
    [DateTime]::FromFileTimeUtc($ticks).ToString($GatewayDateFormat, $GatewayInvariant)
}

# The properties that ConvertTo-GatewayContainer needs.
$GatewayContainerProperties = @('description', 'ProtectedFromAccidentalDeletion', 'whenCreated', 'whenChanged')

# Writes the records of OUs and containers.
function ConvertTo-GatewayContainer {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Container)
    foreach ($item in $Container) {
        $created = $item.whenCreated # absent if the account may not read it
        if ($null -ne $created) { $created = ([datetime]$created).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        $modified = $item.whenChanged
        if ($null -ne $modified) { $modified = ([datetime]$modified).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        [ordered]@{
            guid        = [string]$item.ObjectGUID
            name        = [string]$item.Name
            path        = [string]$item.DistinguishedName
            protected   = [bool]$item.ProtectedFromAccidentalDeletion
            description = [string]@($item.description)[0]
            created     = [string]$created
            modified    = [string]$modified
            container   = [bool]([string]$item.ObjectClass -ne 'organizationalUnit')
        }
    }
}

#endregion
