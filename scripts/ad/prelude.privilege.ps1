# Guards of what only callers with the scope 'privileged' may change; the list is in prelude.guards.ps1.

# The properties that the guards need.
$GatewayGuardProperties = @(
    'adminCount', 'isCriticalSystemObject', 'primaryGroupID', 'sAMAccountName', 'msDS-SecondaryKrbTgtNumber', 'msDS-KrbTgtLinkBl'
)

# The primary groups that everybody has and that give nothing.
$GatewayCommonGroups = @('513', '514', '515')

# How long what Get-GatewayGuard has found is used, in milliseconds.
$GatewayGuardAge = 60000

$script:GatewayGuardsFound = @{}

# The accounts that are the gateway: the user or gMSA that it runs as, and the computer that it runs on, which is
# its account in the network if it runs as a virtual account, LocalSystem or NetworkService.
function Get-GatewayOwnAccount {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    $domain = Get-GatewayDomain -Server $Server
    $names = @{}
    $machine = [Environment]::MachineName + '$'
    $names[$machine.ToUpperInvariant()] = $GatewayGuards.machine.why
    if ([string]::Equals($domain.netBios, [Environment]::UserDomainName, [System.StringComparison]::OrdinalIgnoreCase)) {
        $names[[Environment]::UserName.ToUpperInvariant()] = $GatewayGuards.self.why
    }
    $filter = @(foreach ($name in @($names.Keys)) { '(sAMAccountName=' + (Get-GatewayLdapEscaped -Value $name) + ')' }) -join ''
    $search = @{ Class = 'any'; Filter = '(|' + $filter + ')'; Base = $domain.dn; Server = $Server }
    foreach ($object in @(Get-GatewayObject -Property @('sAMAccountName', 'primaryGroupID') @search)) {
        $why = $names[([string]$object.sAMAccountName).ToUpperInvariant()]
        if ($null -ne $why) { @{ object = $object; why = $why } } # the directory ignores diacritics
    }
}

# What the guards need to know of the domain, read again after a minute: groups has the reasons of the guarded
# groups whose members are guarded, by GUID, own those of the gateway's accounts; members has the names of the
# former, nested those of all built-in or guarded groups, objects the GUIDs of groups and accounts.
function Get-GatewayGuard {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server
    )
    $key = $Server + '|' + (@($GuardedGroup) -join '|')
    $known = $script:GatewayGuardsFound[$key]
    if ($null -ne $known -and $known.watch.ElapsedMilliseconds -lt $GatewayGuardAge) { return $known }
    $domain = Get-GatewayDomain -Server $Server
    $guard = @{ watch = [System.Diagnostics.Stopwatch]::StartNew(); groups = @{}; own = @{}; primary = @{} }
    $members = [System.Collections.Generic.List[string]]::new()
    $nested = [System.Collections.Generic.List[string]]::new()
    $objects = [System.Collections.Generic.List[string]]::new()
    $search = @{ Class = 'group'; Base = $domain.dn; Server = $Server }

    # The groups of Windows.
    $reasons = @{}
    $filter = '(isCriticalSystemObject=TRUE)(adminCount=1)'
    foreach ($entry in $GatewayGuardedGroups) {
        $reason = $entry.name + ', ' + $entry.why
        if ($entry.rid) { $reasons[$domain.sid + '-' + $entry.rid] = $reason }
        if ($entry.sid) { $reasons[$entry.sid] = $reason }
        if ($entry.account) {
            $reasons[$entry.account.ToUpperInvariant()] = $reason
            $filter += '(sAMAccountName=' + (Get-GatewayLdapEscaped -Value $entry.account) + ')'
        }
    }
    $found = [System.Collections.Generic.List[object]]::new()
    foreach ($group in @(Get-GatewayObject -Filter ('(|' + $filter + ')') @search)) { $found.Add($group) }

    # The groups of the gateway.
    $own = @(Get-GatewayOwnAccount -Server $Server)
    foreach ($account in $own) { $guard.own[[string]$account.object.ObjectGUID] = $account.why }
    $shares = @{}
    $filter = ''
    if ($null -ne $GuardedGroup -and $GuardedGroup.Length -gt 0) {
        foreach ($name in $GuardedGroup) {
            $escaped = Get-GatewayLdapEscaped -Value $name
            $filter += '(sAMAccountName=' + $escaped + ')(distinguishedName=' + $escaped + ')'
        }
    } else {
        foreach ($account in $own) {
            $filter += '(member:' + $GatewayInChain + ':=' + (Get-GatewayLdapEscaped -Value ([string]$account.object.DistinguishedName)) + ')'
            $primary = Get-GatewayPrimaryGroupDn -Member $account.object -Server $Server
            if ($primary -ne '') {
                $escaped = Get-GatewayLdapEscaped -Value $primary
                $filter += '(distinguishedName=' + $escaped + ')(member:' + $GatewayInChain + ':=' + $escaped + ')'
            }
        }
    }
    if ($filter -ne '') {
        foreach ($group in @(Get-GatewayObject -Filter ('(|' + $filter + ')') @search)) {
            $rid = ([string]$group.SID) -replace '^.*-', ''
            if ($rid.Length -le 3) { continue } # built in: guarded by the list or common
            $shares[[string]$group.ObjectGUID] = $true
            $found.Add($group)
        }
    }

    foreach ($group in $found) {
        $guid = [string]$group.ObjectGUID
        $dn = [string]$group.DistinguishedName
        $reason = $reasons[[string]$group.SID]
        if ($null -eq $reason) { $reason = $reasons[([string]$group.SamAccountName).ToUpperInvariant()] }
        if ($null -eq $reason -and $shares.ContainsKey($guid)) { $reason = 'a group that ' + $GatewayGuards.rights.why.Substring(3) }
        if ($null -ne $reason) {
            $guard.groups[$guid] = $reason
            $members.Add($dn)
            $objects.Add($guid)
        }
        $nested.Add($dn)
    }
    foreach ($account in $own) { $objects.Add([string]$account.object.ObjectGUID) }
    $guard['members'] = $members.ToArray()
    $guard['nested'] = $nested.ToArray()
    $guard['objects'] = $objects.ToArray()
    $script:GatewayGuardsFound[$key] = $guard
    $guard
}

# Returns whether an object is in one of the groups, directly or through others, as memberOf shows it. It queries
# the object itself, so the cost does not depend on the number of objects (facts E19).
function Test-GatewayAmong {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Group,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($Group.Length -eq 0) { return $false }
    $chains = @(foreach ($name in $Group) { '(memberOf:' + $GatewayInChain + ':=' + (Get-GatewayLdapEscaped -Value $name) + ')' }) -join ''
    @(Get-GatewayObject -Class 'any' -Filter ('(|' + $chains + ')') -Base $Dn -Scope 'Base' -Server $Server).Length -gt 0
}

# Returns why an object is in a guarded group, directly or through others; '' if it is not.
function Get-GatewayMemberReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [hashtable] $Guard,
        [Parameter(Mandatory)] [string] $Server
    )
    if (-not (Test-GatewayAmong -Dn $Dn -Group $Guard.members -Server $Server)) { return '' }
    $filter = '(member:' + $GatewayInChain + ':=' + (Get-GatewayLdapEscaped -Value $Dn) + ')'
    foreach ($group in @(Get-GatewayObject -Class 'group' -Filter $filter -Base (Get-GatewayDomain -Server $Server).dn -Server $Server)) {
        $reason = $Guard.groups[[string]$group.ObjectGUID]
        if ($null -ne $reason) { return 'it is in ' + $reason }
    }
    'it is in a guarded group'
}

# The SID of an object; '' if it has none.
function Get-GatewaySid {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object)
    $sid = [string]$Object.SID
    if ($sid -eq '') { $sid = [string]$Object.objectSid } # of objects read without their class
    $sid
}

# Returns whether an account holds the key of a read-only domain controller, or that of Microsoft Entra Kerberos. Such
# accounts look like ordinary users, and any of their marks is enough.
function Test-GatewayTicketKey {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object)
    if ([string]$Object.sAMAccountName -match '^krbtgt_') { return $true }
    foreach ($name in @('msDS-SecondaryKrbTgtNumber', 'msDS-KrbTgtLinkBl')) {
        if ([string]$Object.PSObject.Properties[$name].Value -ne '') { return $true }
    }
    $false
}

# Returns why an object is guarded whatever it is a member of; '' if it is not.
function Get-GatewayOwnReason {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object)
    if (Test-GatewayController -Computer $Object) { return $GatewayGuards.controller.why }
    if ([string]$Object.isCriticalSystemObject -eq 'True') { return $GatewayGuards.critical.why }
    if (Test-GatewayTicketKey -Object $Object) { return $GatewayGuards.krbtgt.why }
    $sid = Get-GatewaySid -Object $Object
    if ($sid -match '^S-1-5-32-|-([0-9]{1,3})$') { return $GatewayGuards.builtIn.why }
    if ([string]$Object.adminCount -eq '1') { return $GatewayGuards.adminCount.why }
    ''
}

# Returns why only privileged callers may change an object; '' if others may. It is read with
# $GatewayGuardProperties.
function Get-GatewayGuardReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server
    )
    $own = Get-GatewayOwnReason -Object $Object
    if ($own -ne '') { return $own }
    $sid = Get-GatewaySid -Object $Object
    $dn = [string]$Object.DistinguishedName
    $domain = Get-GatewayDomain -Server $Server
    if (Test-GatewayWithin -Dn $dn -Base @($domain.controllers)) { return $GatewayGuards.place.why }
    if ($sid -eq '') { return '' } # no account and no group
    $guard = Get-GatewayGuard -GuardedGroup $GuardedGroup -Server $Server
    $guid = [string]$Object.ObjectGUID
    if ($guard.own.ContainsKey($guid)) { return $guard.own[$guid] }
    if ($guard.groups.ContainsKey($guid)) { return 'it is ' + $guard.groups[$guid] }
    $reason = Get-GatewayMemberReason -Dn $dn -Guard $guard -Server $Server
    if ($reason -ne '') { return $reason }
    if ([string]$Object.ObjectClass -eq 'group') {
        if (Test-GatewayAmong -Dn $dn -Group $guard.nested -Server $Server) { return $GatewayGuards.nested.why }
        return ''
    }
    # memberOf omits the primary group (facts E18). It is common to many accounts, so the answer is kept.
    $primary = [string]$Object.primaryGroupID
    if ($primary -eq '') { return '' }
    if (-not $guard.primary.ContainsKey($primary)) {
        $reason = ''
        $groupDn = Get-GatewayPrimaryGroupDn -Member $Object -Server $Server
        if ($groupDn -ne '') {
            $filter = '(distinguishedName=' + (Get-GatewayLdapEscaped -Value $groupDn) + ')'
            $group = @(Get-GatewayObject -Class 'group' -Filter $filter -Base $domain.dn -Server $Server)[0]
            $reason = [string]$guard.groups[[string]$group.ObjectGUID]
            if ($reason -ne '') { $reason = 'it is in ' + $reason }
            if ($reason -eq '') { $reason = Get-GatewayMemberReason -Dn $groupDn -Guard $guard -Server $Server }
        }
        $guard.primary[$primary] = $reason
    }
    $guard.primary[$primary]
}

# Refuses to change a guarded object unless the caller is privileged.
function Assert-GatewayPrivilege {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [Parameter(Mandatory)] [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    if ($Privileged) { return }
    Set-GatewayStep -Label 'check privilege' -Arg $Arg
    $why = Get-GatewayGuardReason -Object $Object -GuardedGroup $GuardedGroup -Server $Server
    if ($why -ne '') { Stop-GatewayGuarded -Target ([string]$Object.DistinguishedName) -Why $why -Arg $Arg }
}

# Refuses to put something into OU=Domain Controllers or below it unless the caller is privileged.
function Assert-GatewayPlace {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [bool] $Privileged,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    if ($Privileged) { return }
    if (Test-GatewayWithin -Dn $Dn -Base @((Get-GatewayDomain -Server $Server).controllers)) {
        Stop-GatewayGuarded -Target $Dn -Why $GatewayGuards.place.why -Arg $Arg
    }
}

# Refuses to move, rename or remove an OU with guarded objects below it unless the caller is privileged.
function Assert-GatewayTree {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    if ($Privileged) { return }
    Set-GatewayStep -Label 'check privilege below' -Arg $Arg
    $guard = Get-GatewayGuard -GuardedGroup $GuardedGroup -Server $Server
    $objects = @(foreach ($guid in $guard.objects) { '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$guid)) + ')' }) -join ''
    $members = @(foreach ($name in $guard.members) { '(memberOf:' + $GatewayInChain + ':=' + (Get-GatewayLdapEscaped -Value $name) + ')' }) -join ''
    $nested = @(foreach ($name in $guard.nested) { '(memberOf:' + $GatewayInChain + ':=' + (Get-GatewayLdapEscaped -Value $name) + ')' }) -join ''
    $filter = '(|(adminCount=1)(isCriticalSystemObject=TRUE)(primaryGroupID=516)(primaryGroupID=521)' +
        '(sAMAccountName=krbtgt_*)(msDS-SecondaryKrbTgtNumber=*)(msDS-KrbTgtLinkBl=*)' +
        '(userAccountControl:1.2.840.113556.1.4.803:=8192)' + $objects + $members + '(&(objectCategory=group)(|' + $nested + ')))'
    $found = @(Get-ADObject -LDAPFilter $filter -SearchBase $Dn -SearchScope Subtree -ResultSetSize 1 -Server $Server)
    if ($found.Length -gt 0) {
        $why = $GatewayGuards.tree.why
        # A group may lie outside the groups that the caller is limited to.
        if ([string]$found[0].ObjectClass -ne 'group') { $why += ", '" + [string]$found[0].DistinguishedName + "' for one" }
        Stop-GatewayGuarded -Target $Dn -Why $why -Arg $Arg
    }
}

# Refuses a user's name that looks like another account's: that of a computer without its $ (the first step of
# CVE-2021-42278), or one that differs from a guarded account by blanks, width or invisible characters only.
# Plain is the name without those, if it has any. What the name itself is taken by is not checked here.
function Assert-GatewayUserName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [string] $Plain,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    Set-GatewayStep -Label 'check name' -Arg $Arg
    if ($Name.EndsWith('$', [System.StringComparison]::Ordinal)) {
        Stop-Gateway -Code 'unprocessable' -Arg $Arg -Message "The user name '$Name' ends in '$', as account names of computers do."
    }
    $root = (Get-GatewayDomain -Server $Server).dn
    $filter = '(sAMAccountName=' + (Get-GatewayLdapEscaped -Value ($Name + '$')) + ')'
    foreach ($holder in @(Get-GatewayObject -Class 'any' -Filter $filter -Base $root -Server $Server)) {
        $message = "The user name '$Name' is that of a computer account without its '$': they could be mistaken for each other."
        if (-not (Test-GatewayAllowed -Dn ([string]$holder.DistinguishedName) -AllowedOU $AllowedOU -Server $Server)) {
            $script:GatewayOutside = $true
            $message = "The name '$Name' is taken."
        }
        Stop-Gateway -Code 'conflict' -Arg $Arg -Message $message
    }
    if (-not $Plain) { return }
    $filter = '(sAMAccountName=' + (Get-GatewayLdapEscaped -Value $Plain) + ')'
    $search = @{ Class = 'any'; Filter = $filter; Property = $GatewayGuardProperties + @('objectSid', 'userAccountControl'); Base = $root; Server = $Server }
    foreach ($holder in @(Get-GatewayObject @search)) {
        if ((Get-GatewayGuardReason -Object $holder -GuardedGroup $GuardedGroup -Server $Server) -eq '') { continue }
        $message = "The user name '$Name' looks like that of a guarded account: they differ by blanks, width or invisible characters only."
        if (-not (Test-GatewayAllowed -Dn ([string]$holder.DistinguishedName) -AllowedOU $AllowedOU -Server $Server)) {
            $script:GatewayOutside = $true
            $message = "The name '$Name' is taken."
        }
        Stop-Gateway -Code 'conflict' -Arg $Arg -Message $message
    }
}
