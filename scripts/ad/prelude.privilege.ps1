# Guards for the changes that need the scope 'privileged'. The list is in prelude.guards.ps1.

# The properties that the guards need.
$GatewayGuardProperties = @(
    'adminCount', 'isCriticalSystemObject', 'primaryGroupID', 'sAMAccountName', 'msDS-SecondaryKrbTgtNumber', 'msDS-KrbTgtLinkBl'
)

# The primary groups that everybody has and that give no rights.
$GatewayCommonGroups = @('513', '514', '515')

# The time for which results of Get-GatewayGuard are used, in milliseconds.
$GatewayGuardAge = 60000

$script:GatewayGuardsFound = @{}

# Returns the gateway's own accounts: the user or gMSA that runs it, and the computer that it runs on. On the
# network, that computer's account is the gateway's if it runs as a virtual account, LocalSystem or NetworkService.
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

# Returns the groups that give rights in one way. Their entries in GuardedGroup begin with Kind and a colon,
# followed by a SID, a GUID, a distinguished name or an account name.
function Find-GatewayGranting {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Kind,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($null -eq $GuardedGroup) { return }
    $search = @{ Class = 'group'; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
    $terms = [System.Collections.Generic.List[string]]::new()
    foreach ($entry in $GuardedGroup) {
        if (-not $entry.StartsWith($Kind + ':', [System.StringComparison]::Ordinal)) { continue }
        $name = $entry.Substring($Kind.Length + 1)
        $escaped = Get-GatewayLdapEscaped -Value $name
        $terms.Add('(sAMAccountName=' + $escaped + ')')
        if ($name.Contains('=')) { $terms.Add('(distinguishedName=' + $escaped + ')') }
        if ($name -match '^S-1-[0-9]') { $terms.Add('(objectSid=' + $escaped + ')') }
        if (($name -replace '^\{(.*)\}$', '$1') -match '^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$') {
            $terms.Add('(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$name)) + ')')
        }
        if ($terms.Count -lt 100) { continue }
        Get-GatewayObject -Filter ('(|' + ($terms -join '') + ')') @search
        $terms.Clear()
    }
    if ($terms.Count -gt 0) { Get-GatewayObject -Filter ('(|' + ($terms -join '') + ')') @search }
}

# Returns the groups of the gateway's own accounts.
function Find-GatewayOwnGroup {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Account,
        [Parameter(Mandatory)] [string] $Server
    )
    $filter = ''
    foreach ($one in $Account) {
        $filter += '(member:' + $GatewayInChain + ':=' + (Get-GatewayLdapEscaped -Value ([string]$one.object.DistinguishedName)) + ')'
        $primary = Get-GatewayPrimaryGroupDn -Member $one.object -Server $Server
        if ($primary -ne '') {
            $escaped = Get-GatewayLdapEscaped -Value $primary
            $filter += '(distinguishedName=' + $escaped + ')(member:' + $GatewayInChain + ':=' + $escaped + ')'
        }
    }
    if ($filter -eq '') { return }
    Get-GatewayObject -Class 'group' -Filter ('(|' + $filter + ')') -Base (Get-GatewayDomain -Server $Server).dn -Server $Server
}

# Returns whether everybody is in a group, so that a membership gives no rights.
function Test-GatewayCommonGroup {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Group, [Parameter(Mandatory)] [string] $Server)
    $domain = Get-GatewayDomain -Server $Server
    $common = @('S-1-5-32-545', 'S-1-5-32-546') + @(foreach ($rid in $GatewayCommonGroups) { $domain.sid + '-' + $rid }) # Users, Guests
    if (Test-GatewayListed -Value ([string]$Group.SID) -List $common) { return $true }
    $filter = '(objectSid=' + (Get-GatewayLdapEscaped -Value ($domain.sid + '-513')) + ')'
    $asked = [string]$Group.DistinguishedName
    $term = '(memberOf:' + $GatewayInChain + ':=' + (Get-GatewayLdapEscaped -Value $asked) + ')'
    foreach ($users in @(Get-GatewayObject -Class 'group' -Filter $filter -Base $domain.dn -Server $Server)) {
        $dn = [string]$users.DistinguishedName
        if (Test-GatewayAmong -Dn $dn -Group @($asked) -Filter $term -Server $Server) { return $true }
    }
    $false
}

# Returns the groups that Windows guards, and those whose members $GatewayGuardedGroups guards. Each has a reason,
# which is '' if only the group itself is guarded.
function Find-GatewayBuiltInGroup {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    $domain = Get-GatewayDomain -Server $Server
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
    foreach ($group in @(Get-GatewayObject -Class 'group' -Filter ('(|' + $filter + ')') -Base $domain.dn -Server $Server)) {
        $reason = $reasons[[string]$group.SID]
        if ($null -eq $reason) { $reason = $reasons[([string]$group.SamAccountName).ToUpperInvariant()] }
        @{ group = $group; reason = [string]$reason; members = ($null -ne $reason); nested = $true }
    }
}

# Returns all guarded groups with their reasons. Each entry says whether the group's members, and the groups nested
# in it, are guarded as well. If a limit names a group, only the group itself is guarded. A group occurs more than
# once if it is guarded in more than one way.
function Find-GatewayGuardedGroup {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Own,
        [Parameter(Mandatory)] [string] $Server
    )
    Find-GatewayBuiltInGroup -Server $Server
    $limits = @{ GuardedGroup = $GuardedGroup; Server = $Server }
    $named = $false # whether the settings name the groups of the gateway's rights
    if ($null -ne $GuardedGroup) {
        foreach ($entry in $GuardedGroup) {
            if ($entry.StartsWith('rights:', [System.StringComparison]::Ordinal)) { $named = $true }
        }
    }
    if ($named) { $shares = @(Find-GatewayGranting -Kind 'rights' @limits) } else { $shares = @(Find-GatewayOwnGroup -Account $Own -Server $Server) }
    foreach ($group in $shares) {
        $rid = ([string]$group.SID) -replace '^.*-', ''
        if ($rid.Length -le 3) { continue } # a built-in group: guarded by the list, or a common group
        @{ group = $group; reason = 'a group that ' + $GatewayGuards.rights.why.Substring(3); members = $true; nested = $true }
    }
    foreach ($group in @(Find-GatewayGranting -Kind 'role' @limits)) {
        $members = -not (Test-GatewayCommonGroup -Group $group -Server $Server)
        @{ group = $group; reason = 'a group that gives rights: ' + $GatewayGuards.role.why; members = $members; nested = $true }
    }
    foreach ($group in @(Find-GatewayGranting -Kind 'limit' @limits)) {
        @{ group = $group; reason = 'a group that decides what others may change: ' + $GatewayGuards.limit.why; members = $false; nested = $false }
    }
}

# Returns the facts about the domain that the guards need. They are read again after a minute. By GUID, groups
# contains the reasons of the guarded groups whose members are guarded, alone the reasons of the other guarded
# groups, and own the reasons of the gateway's accounts. members contains the names of the groups in groups,
# nested the names of the groups whose nested groups are guarded, and objects the GUIDs of groups and
# accounts. terms contains the results of Get-GatewayGuardTerms.
function Get-GatewayGuard {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server
    )
    $key = $Server + '|' + (@($GuardedGroup) -join '|')
    $known = $script:GatewayGuardsFound[$key]
    if ($null -ne $known -and $known.watch.ElapsedMilliseconds -lt $GatewayGuardAge) { return $known }
    $guard = @{ watch = [System.Diagnostics.Stopwatch]::StartNew(); groups = @{}; alone = @{}; own = @{}; primary = @{}; terms = @{} }
    $members = [System.Collections.Generic.List[string]]::new()
    $nested = [System.Collections.Generic.List[string]]::new()
    $objects = [System.Collections.Generic.List[string]]::new()
    $own = @(Get-GatewayOwnAccount -Server $Server)
    foreach ($account in $own) {
        $guard.own[[string]$account.object.ObjectGUID] = $account.why
        $objects.Add([string]$account.object.ObjectGUID)
    }
    foreach ($entry in @(Find-GatewayGuardedGroup -GuardedGroup $GuardedGroup -Own $own -Server $Server)) {
        $guid = [string]$entry.group.ObjectGUID
        $dn = [string]$entry.group.DistinguishedName
        if ($entry.members -and -not $guard.groups.ContainsKey($guid)) {
            $guard.groups[$guid] = $entry.reason
            $members.Add($dn)
            $objects.Add($guid)
        }
        if (-not $entry.members -and $entry.reason -ne '' -and -not $guard.alone.ContainsKey($guid)) {
            $guard.alone[$guid] = $entry.reason
            $objects.Add($guid)
        }
        if ($entry.nested) { $nested.Add($dn) }
    }
    $guard['members'] = $members.ToArray()
    $guard['nested'] = $nested.ToArray()
    $guard['objects'] = $objects.ToArray()
    if ($script:GatewayGuardsFound.Count -ge 8) { $script:GatewayGuardsFound = @{} } # drops the entries of earlier lists of groups
    $script:GatewayGuardsFound[$key] = $guard
    $guard
}

# Returns the reason why a group is guarded that GuardedGroup names, even if the group is deleted, or '' if it is
# not guarded.
function Get-GatewayGrantingReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup
    )
    if ($null -eq $GuardedGroup) { return '' }
    $texts = @((Get-GatewaySid -Object $Group), [string]$Group.sAMAccountName, [string]$Group.ObjectGUID)
    foreach ($entry in $GuardedGroup) {
        $kind = $entry -replace ':.*$', ''
        if (Test-GatewayListed -Value $entry.Substring($kind.Length + 1) -List $texts) { return $GatewayGuards[$kind].why }
    }
    ''
}

# Returns the terms of an LDAP filter for what is in one of the groups of a guard, directly or through others,
# according to memberOf. Key is the entry of the guard with the names of the groups. The terms are made once per guard.
function Get-GatewayGuardTerms {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Guard, [Parameter(Mandatory)] [ValidateSet('members', 'nested')] [string] $Key)
    $terms = $Guard.terms
    if (-not $terms.ContainsKey($Key)) {
        $escaped = @(Get-GatewayLdapEscaped -Value $Guard[$Key])
        $terms[$Key] = @(foreach ($name in $escaped) { '(memberOf:' + $GatewayInChain + ':=' + $name + ')' }) -join ''
    }
    $terms[$Key]
}

# Returns whether an object is in one of the groups, for which Filter has the terms with memberOf. It queries the
# object itself, so the cost does not depend on the number of objects (facts E19).
function Test-GatewayAmong {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Group,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Filter,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($Group.Length -eq 0) { return $false }
    if (Test-GatewayForeign -Dn $Dn -Server $Server) { # the groups link to the object, but this server does not have it
        $names = @(foreach ($name in @(Get-GatewayLdapEscaped -Value $Group)) { '(distinguishedName=' + $name + ')' }) -join ''
        $links = '(&(|' + $names + ')(member:' + $GatewayInChain + ':=' + (Get-GatewayLdapEscaped -Value $Dn) + '))'
        $search = @{ Class = 'group'; Filter = $links; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
        return @(Get-GatewayObject @search).Length -gt 0
    }
    @(Get-GatewayObject -Class 'any' -Filter ('(|' + $Filter + ')') -Base $Dn -Scope 'Base' -Server $Server).Length -gt 0
}

# Returns the reason why an object is in a guarded group, directly or through others, or '' if it is not in one.
function Get-GatewayMemberReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [hashtable] $Guard,
        [Parameter(Mandatory)] [string] $Server
    )
    $terms = Get-GatewayGuardTerms -Guard $Guard -Key 'members'
    if (-not (Test-GatewayAmong -Dn $Dn -Group $Guard.members -Filter $terms -Server $Server)) { return '' }
    $filter = '(member:' + $GatewayInChain + ':=' + (Get-GatewayLdapEscaped -Value $Dn) + ')'
    foreach ($group in @(Get-GatewayObject -Class 'group' -Filter $filter -Base (Get-GatewayDomain -Server $Server).dn -Server $Server)) {
        $reason = $Guard.groups[[string]$group.ObjectGUID]
        if ($null -ne $reason) { return 'it is in ' + $reason }
    }
    'it is in a guarded group'
}

# Returns the SID of an object, or '' if it has none.
function Get-GatewaySid {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object)
    $sid = [string]$Object.SID
    if ($sid -eq '') { $sid = [string]$Object.objectSid } # of objects read without their class
    $sid
}

# Returns whether an account has the key of a read-only domain controller or of Microsoft Entra Kerberos. Such
# accounts look like ordinary users. Any one of their characteristics is enough.
function Test-GatewayTicketKey {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object)
    if ([string]$Object.sAMAccountName -match '^krbtgt_') { return $true }
    foreach ($name in @('msDS-SecondaryKrbTgtNumber', 'msDS-KrbTgtLinkBl')) {
        if ([string]$Object.PSObject.Properties[$name].Value -ne '') { return $true }
    }
    $false
}

# Returns the reason why an object is guarded regardless of its memberships, or '' if it is not.
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

# Returns the reason why only privileged callers may change an object, or '' if others may. The object must have
# been read with $GatewayGuardProperties.
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
        $terms = Get-GatewayGuardTerms -Guard $guard -Key 'nested'
        if (Test-GatewayAmong -Dn $dn -Group $guard.nested -Filter $terms -Server $Server) { return $GatewayGuards.nested.why }
        if ($guard.alone.ContainsKey($guid)) { return 'it is ' + $guard.alone[$guid] }
        return ''
    }
    # memberOf omits the primary group (facts E18). Many accounts have the same one, so the result is cached.
    $primary = [string]$Object.primaryGroupID
    if ($primary -eq '' -or (Test-GatewayForeign -Dn $dn -Server $Server)) { return '' }
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

# Returns the reason why only privileged callers may move, rename or remove an OU, or '' if others may. The reason
# is what lies below the OU.
function Get-GatewayTreeReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server
    )
    $guard = Get-GatewayGuard -GuardedGroup $GuardedGroup -Server $Server
    $objects = @(foreach ($guid in $guard.objects) { '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$guid)) + ')' }) -join ''
    $members = Get-GatewayGuardTerms -Guard $guard -Key 'members'
    $nested = Get-GatewayGuardTerms -Guard $guard -Key 'nested'
    $filter = '(|(adminCount=1)(isCriticalSystemObject=TRUE)(primaryGroupID=516)(primaryGroupID=521)' +
        '(sAMAccountName=krbtgt_*)(msDS-SecondaryKrbTgtNumber=*)(msDS-KrbTgtLinkBl=*)' +
        '(userAccountControl:1.2.840.113556.1.4.803:=8192)' + $objects + $members + '(&(objectCategory=group)(|' + $nested + ')))'
    $found = @(Get-ADObject -LDAPFilter $filter -SearchBase $Dn -SearchScope Subtree -ResultSetSize 1 -Server $Server)
    if ($found.Length -eq 0) { return '' }
    $why = $GatewayGuards.tree.why
    # A group may lie outside the groups that the caller is limited to.
    if ([string]$found[0].ObjectClass -ne 'group') { $why += ", '" + [string]$found[0].DistinguishedName + "' for one" }
    $why
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
    $why = [string](Get-GatewayTreeReason -Dn $Dn -GuardedGroup $GuardedGroup -Server $Server)
    if ($why -ne '') { Stop-GatewayGuarded -Target $Dn -Why $why -Arg $Arg }
}

# Refuses a user's name that looks like that of another account. This is a computer's name without its $ (the first
# step of CVE-2021-42278), or a name that differs from a guarded account only by blanks, width or invisible
# characters. Plain is the name without these, if it has any. This function does not check whether the name itself
# is taken.
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
