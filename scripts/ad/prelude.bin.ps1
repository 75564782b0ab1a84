# Functions shared by the scripts for the Recycle Bin.

# The properties of deleted objects that their records and the guards need.
$GatewayDeletedProperties = @(
    'msDS-LastKnownRDN', 'lastKnownParent', 'isRecycled', 'sAMAccountName', 'objectSid', 'whenChanged', 'adminCount',
    'isCriticalSystemObject', 'userAccountControl', 'primaryGroupID', 'msDS-SecondaryKrbTgtNumber'
)

# The classes that can be restored, with their names in records.
$GatewayDeletedTypes = @{ user = 'user'; inetOrgPerson = 'user'; group = 'group'; computer = 'computer'; organizationalUnit = 'ou' }

# Returns whether the Recycle Bin is enabled. The domain is asked each time, because the bin can be enabled at any
# time (facts R1), and isDeleted says nothing about it (facts R18).
function Test-GatewayBin {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    $feature = Get-ADOptionalFeature -Identity 'Recycle Bin Feature' -Server $Server
    @($feature.EnabledScopes).Length -gt 0
}

# Returns whether an object removed now can be restored: 'True' or 'False', or '' if that cannot be read.
function Get-GatewayRestorable {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    Set-GatewayStep -Label 'read Recycle Bin'
    try {
        return [string](Test-GatewayBin -Server $Server)
    } catch {
        return ''
    }
}

# Returns the number of days for which a deleted object can be restored, and for which a tombstone or recycled
# object exists at all. $null if the account may not read it (facts R2).
function Get-GatewayLifetime {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    $life = @{ tombstone = $null; deleted = $null }
    $names = @('tombstoneLifetime', 'msDS-DeletedObjectLifetime')
    $configuration = [string](Get-ADRootDSE -Server $Server).configurationNamingContext
    try {
        $service = Get-ADObject -Identity "CN=Directory Service,CN=Windows NT,CN=Services,$configuration" -Properties $names -Server $Server
    } catch {
        if ($_.Exception.GetType().Name -ne 'ADIdentityNotFoundException') { throw }
        return $life
    }
    $life['tombstone'] = 60
    foreach ($property in $service.PSObject.Properties) {
        if ($property.Name -eq 'tombstoneLifetime' -and $null -ne $property.Value) { $life['tombstone'] = [int]$property.Value }
    }
    $life['deleted'] = $life['tombstone']
    foreach ($property in $service.PSObject.Properties) {
        if ($property.Name -eq 'msDS-DeletedObjectLifetime' -and $null -ne $property.Value) { $life['deleted'] = [int]$property.Value }
    }
    $life
}

# Returns the deleted objects that match an LDAP filter, which the caller has built from escaped values.
function Get-GatewayDeleted {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Filter,
        [string[]] $Property = @(),
        [Parameter(Mandatory)] [string] $Server
    )
    $search = @{
        LDAPFilter = '(&(isDeleted=TRUE)' + $Filter + ')'; SearchBase = (Get-GatewayDomain -Server $Server).deleted; SearchScope = 'OneLevel'
        ResultSetSize = $null; Properties = $GatewayDeletedProperties + $Property; Server = $Server
    }
    Get-ADObject -IncludeDeletedObjects @search
}

# Returns the name that a deleted object had. Its current name may be truncated (facts R10). For a tombstone, only
# the current name exists (facts R18).
function Get-GatewayFormerName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object)
    foreach ($property in $Object.PSObject.Properties) {
        if ($property.Name -eq 'msDS-LastKnownRDN' -and [string]$property.Value -ne '') { return [string]$property.Value }
    }
    ([string]$Object.Name).Split([char]10)[0]
}

# Returns the name with which a deleted object can be restored. For a conflict object this is the name without the
# text that the directory added to it, because no request may set a name with a line feed (facts C23).
function Get-GatewayReturnName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object)
    (Get-GatewayFormerName -Object $Object).Split([char]10)[0]
}

# Returns whether a name belongs to a deleted object.
function Test-GatewayDeletedDn {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyString()] [string] $Dn, [Parameter(Mandatory)] [string] $Server)
    Test-GatewayWithin -Dn $Dn -Base @((Get-GatewayDomain -Server $Server).deleted)
}

# Returns the GUID of a deleted object from its name, or '' if it is not the name of one.
function Get-GatewayDeletedGuid {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Dn)
    if ($Dn -notmatch '\\0ADEL:[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12},') { return '' }
    $Dn -replace '^.*?\\0ADEL:([0-9A-Fa-f-]{36}),.*$', '$1'
}

# Returns the distinguished name that a container had. For a deleted container it is composed of the names of the
# containers in which it was. It is '' if one of them can no longer be read. Known contains the results of earlier
# calls.
function Get-GatewayFormerDn {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Dn,
        [Parameter(Mandatory)] [hashtable] $Known,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($Known.ContainsKey($Dn)) { return [string]$Known[$Dn] }
    $at = $Dn
    $front = ''
    $former = ''
    while ($at -ne '') {
        if (-not (Test-GatewayDeletedDn -Dn $at -Server $Server)) {
            $former = $front + $at
            break
        }
        $guid = Get-GatewayDeletedGuid -Dn $at
        if ($guid -eq '') { break }
        $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$guid)) + ')'
        $found = @(Get-GatewayDeleted -Filter $filter -Server $Server)
        if ($found.Length -eq 0) { break }
        $front += ($at -replace '\\0ADEL:.*$', '') + ','
        $at = [string]$found[0].lastKnownParent
    }
    $Known[$Dn] = $former
    $former
}

# Returns whether a text is in a list, ignoring case.
function Test-GatewayListed {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Value,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $List
    )
    foreach ($item in $List) {
        if ($item.Equals($Value, [System.StringComparison]::OrdinalIgnoreCase)) { return $true }
    }
    $false
}

# Returns the deleted objects found that the caller may see. Objects that were outside the caller's limits
# are treated as missing.
function Select-GatewayDeleted {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Found,
        [Parameter(Mandatory)] [hashtable] $Known,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
    $named = $null -ne $AllowedGroup -and $AllowedGroup.Length -gt 0
    foreach ($item in $Found) {
        if ($named -and [string]$item.ObjectClass -eq 'group') {
            if (Test-GatewayNamedGroup -Group $item -List $AllowedGroup) { $item } else { $script:GatewayOutside = $true }
            continue
        }
        if ($null -eq $bases) {
            $item
            continue
        }
        $former = Get-GatewayFormerDn -Dn ([string]$item.lastKnownParent) -Known $Known -Server $Server
        if ($former -ne '' -and (Test-GatewayWithin -Dn $former -Base $bases)) { $item } else { $script:GatewayOutside = $true }
    }
}

# Finds a deleted object by its GUID. Ends the request with not_found if there is none within the caller's limits,
# and with not_undoable if it cannot be restored.
function Find-GatewayDeleted {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [hashtable] $Known,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'find deleted object' -Arg 'Guid'
    $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Guid)) + ')'
    $all = @(Get-GatewayDeleted -Filter $filter -Property @('memberOf', 'servicePrincipalName', 'userPrincipalName') -Server $Server)
    $limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU }
    $found = @(Select-GatewayDeleted -Found $all -Known $Known -Server $Server @limits)
    if ($found.Length -eq 0 -or -not $GatewayDeletedTypes.ContainsKey([string]$found[0].ObjectClass)) {
        $message = "There is no deleted user, group, computer or OU with the GUID '$Guid'" + (Get-GatewayScopeText @limits) + '.'
        Stop-Gateway -Code 'not_found' -Arg 'Guid' -Message $message
    }
    $found[0]
}

# Returns which of the account names, and of the names in containers, live objects have. The result is a table of
# the names in upper case. An account name is a key by itself, and another name is followed by a zero character and
# the container.
function Get-GatewayTaken {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Object,
        [Parameter(Mandatory)] [string] $Server
    )
    $taken = @{}
    $zero = [string][char]0
    $search = @{ Class = 'any'; Property = @('sAMAccountName'); Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
    $terms = [System.Collections.Generic.List[string]]::new()
    for ($i = 0; $i -lt $Object.Length; $i++) {
        $terms.Add('(name=' + (Get-GatewayLdapEscaped -Value (Get-GatewayReturnName -Object $Object[$i])) + ')')
        $account = [string]$Object[$i].sAMAccountName
        if ($account -ne '') { $terms.Add('(sAMAccountName=' + (Get-GatewayLdapEscaped -Value $account) + ')') }
        if ($terms.Count -lt 100 -and $i -lt $Object.Length - 1) { continue }
        foreach ($holder in @(Get-GatewayObject -Filter ('(|' + ($terms -join '') + ')') @search)) {
            $taken[([string]$holder.sAMAccountName).ToUpperInvariant()] = $true
            $parent = Get-GatewayParentDn -Dn ([string]$holder.DistinguishedName)
            $taken[([string]$holder.Name + $zero + $parent).ToUpperInvariant()] = $true
        }
        $terms.Clear()
    }
    $taken
}

# Writes the records of deleted objects.
function ConvertTo-GatewayDeleted {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Object,
        [Parameter(Mandatory)] [bool] $Enabled,
        [Parameter(Mandatory)] [hashtable] $Known,
        [Parameter(Mandatory)] [string] $Server
    )
    $life = Get-GatewayLifetime -Server $Server
    $taken = Get-GatewayTaken -Object $Object -Server $Server
    $zero = [string][char]0
    foreach ($item in $Object) {
        $name = Get-GatewayFormerName -Object $item
        $parent = [string]$item.lastKnownParent
        $orphan = $parent -eq '' -or (Test-GatewayDeletedDn -Dn $parent -Server $Server)
        $account = [string]$item.sAMAccountName
        $why = ''
        if ($taken.ContainsKey(((Get-GatewayReturnName -Object $item) + $zero + $parent).ToUpperInvariant())) { $why = 'name_taken' }
        if ($account -ne '' -and $taken.ContainsKey($account.ToUpperInvariant())) { $why = 'account_taken' }
        if ($orphan) { $why = 'parent_deleted' }
        if ([string]$item.isRecycled -eq 'True') { $why = 'recycled' }
        if (-not $Enabled) { $why = 'off' }
        $deleted = ''
        $expires = ''
        $changed = $item.whenChanged # absent if the account may not read it
        if ($null -ne $changed) {
            $changed = ([datetime]$changed).ToUniversalTime()
            $deleted = $changed.ToString($GatewayDateFormat, $GatewayInvariant)
            if ($null -ne $life['deleted'] -and [int]$life['deleted'] -lt 1000000) {
                # File times begin in the year 1601, and ticks in the year 1.
                $end = [long]$changed.Ticks - 504911232000000000 + [long]$life['deleted'] * 864000000000
                $expires = Get-GatewayFileTime -Value $end
            }
        }
        [ordered]@{
            guid              = [string]$item.ObjectGUID
            sid               = [string]$item.objectSid
            type              = [string]$GatewayDeletedTypes[[string]$item.ObjectClass]
            name              = [string]$name
            account           = [string]$account
            lastOUPath        = [string](Get-GatewayFormerDn -Dn $parent -Known $Known -Server $Server)
            lastParentDeleted = [bool]$orphan
            deletedAbout      = [string]$deleted
            expiresAbout      = [string]$expires
            restorable        = [bool]($why -eq '')
            why               = [string]$why
            changeId          = [string]'' # the gateway knows it
        }
    }
}

# Returns the reason why only privileged callers may restore a deleted object, or '' if others may. Its memberships
# are those that are restored with it.
function Get-GatewayDeletedReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server
    )
    $own = Get-GatewayOwnReason -Object $Object
    if ($own -ne '') { return $own }
    if ([string]$Object.objectSid -eq '') { return '' } # no account and no group
    $guard = Get-GatewayGuard -GuardedGroup $GuardedGroup -Server $Server
    $guid = [string]$Object.ObjectGUID
    if ($guard.own.ContainsKey($guid)) { return $guard.own[$guid] }
    if ($guard.groups.ContainsKey($guid)) { return 'it is ' + $guard.groups[$guid] }
    if ([string]$Object.ObjectClass -eq 'group') {
        $reason = Get-GatewayGrantingReason -Group $Object -GuardedGroup $GuardedGroup
        if ($reason -ne '') { return $reason }
    }
    $groups = [System.Collections.Generic.List[string]]::new()
    foreach ($dn in @($Object.memberOf)) { $groups.Add([string]$dn) }
    $primary = Get-GatewayPrimaryGroupDn -Member $Object -Server $Server
    if ($primary -ne '') { $groups.Add($primary) }
    $base = (Get-GatewayDomain -Server $Server).dn
    foreach ($dn in $groups) {
        $filter = '(distinguishedName=' + (Get-GatewayLdapEscaped -Value $dn) + ')'
        foreach ($group in @(Get-GatewayObject -Class 'group' -Filter $filter -Base $base -Server $Server)) {
            $reason = [string]$guard.groups[[string]$group.ObjectGUID]
            if ($reason -ne '') { return 'it is in ' + $reason }
            $reason = Get-GatewayMemberReason -Dn ([string]$group.DistinguishedName) -Guard $guard -Server $Server
            if ($reason -ne '') { return $reason }
        }
    }
    ''
}

# Writes the records of restored objects, given by their GUIDs. A record has the shape of the object's class, with
# the type as the member restoredAs for the gateway. Fields contains all fields of a user's record.
function ConvertTo-GatewayRestored {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string[]] $Guid,
        [Parameter(Mandatory)] [string[]] $UserField,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $base = (Get-GatewayDomain -Server $Server).dn
    $shown = ConvertFrom-GatewayUserField -Field $UserField -Server $Server
    foreach ($one in $Guid) {
        $search = @{ Filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$one)) + ')'; Base = $base; Server = $Server }
        foreach ($object in @(Get-GatewayObject -Class 'any' -Property @('sAMAccountName', 'objectSid', 'ProtectedFromAccidentalDeletion') @search)) {
            $type = [string]$GatewayDeletedTypes[[string]$object.ObjectClass]
            $record = $null
            if ($type -eq 'user') {
                $found = @(Get-GatewayObject -Class 'user' -Property $shown.properties @search)
                $record = ConvertTo-GatewayUser -User $found -Field $shown -AllowedOU $AllowedOU -Server $Server
            }
            if ($type -eq 'group') {
                $found = @(Get-GatewayObject -Class 'group' -Property $GatewayGroupProperties @search)
                $record = ConvertTo-GatewayGroup -Group $found -AllowedOU $AllowedOU -Server $Server
            }
            if ($type -eq 'computer') {
                $record = ConvertTo-GatewayComputer -Computer @(Get-GatewayObject -Class 'computer' -Property $GatewayComputerProperties @search)
            }
            if ($type -eq 'ou') {
                $record = ConvertTo-GatewayContainer -Container @(Get-GatewayObject -Class 'container' -Property $GatewayContainerProperties @search)
            }
            if ($null -eq $record) {
                $type = [string]$object.ObjectClass
                $record = [ordered]@{
                    guid              = [string]$object.ObjectGUID
                    sid               = [string]$object.objectSid
                    type              = [string]$type
                    name              = [string]$object.Name
                    account           = [string]$object.sAMAccountName
                    distinguishedName = [string]$object.DistinguishedName
                    ouPath            = [string](Get-GatewayParentDn -Dn ([string]$object.DistinguishedName))
                    enabled           = $null
                    protected         = [bool]$object.ProtectedFromAccidentalDeletion
                }
            }
            $record['restoredAs'] = [string]$type
            $record
        }
    }
}
