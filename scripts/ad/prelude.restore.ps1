# Functions of the script that restores deleted objects.

# Returns the place where a deleted object is restored, which is the one in the request or its old place.
function Find-GatewayRestorePlace {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [AllowNull()] [string] $OUPath,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [bool] $Privileged,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($OUPath) {
        Set-GatewayStep -Label 'find destination' -Arg 'OUPath'
        $place = Find-GatewayContainer -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath' -Code 'unprocessable'
        $found = [string]$place.DistinguishedName
        if ([string]$Object.ObjectClass -eq 'organizationalUnit' -and @('organizationalUnit', 'domainDNS') -notcontains [string]$place.ObjectClass) {
            Stop-Gateway -Code 'unprocessable' -Arg 'OUPath' -Message "'$found' is a container: an OU lies in an OU or in the domain itself."
        }
        Assert-GatewayPlace -Dn $found -Privileged $Privileged -Server $Server -Arg 'OUPath'
        return $found
    }
    Set-GatewayStep -Label 'find last parent' -Arg 'Guid'
    $parent = [string]$Object.lastKnownParent
    if ($parent -eq '' -or (Test-GatewayDeletedDn -Dn $parent -Server $Server)) {
        $message = 'Where the object lay is not known any more. Say with OUPath where it shall come back.'
        $guid = ''
        if ($parent -ne '') { $guid = Get-GatewayDeletedGuid -Dn $parent }
        if ($guid -ne '') {
            $message = "Where the object lay is deleted, too: restore the object with the GUID '$guid' first, or say with OUPath where it shall come back."
        }
        Stop-Gateway -Code 'parent_deleted' -Arg 'Guid' -Message $message
    }
    Assert-GatewayPlace -Dn $parent -Privileged $Privileged -Server $Server -Arg 'Guid'
    $parent
}

# Escapes a name for a distinguished name (RFC 4514) in the same way as the directory.
function Get-GatewayRdnEscaped {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Value)
    $escaped = $Value -replace '([\\,+"<>;=])', '\$1'
    $escaped = $escaped -replace '^([# ])', '\$1'
    $escaped -replace ' $', '\ '
}

# Returns the distinguished name that a deleted object gets under a name below a container.
function Get-GatewayRestoredDn {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Parent
    )
    $rdn = 'CN='
    if ([string]$Object.ObjectClass -eq 'organizationalUnit') { $rdn = 'OU=' }
    $rdn + (Get-GatewayRdnEscaped -Value $Name) + ',' + $Parent
}

# Adds a deleted object that is to be restored to the intent, with all the names that it will have.
function New-GatewayRestoreIntent {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Parent,
        [Parameter(Mandatory)] [bool] $Disabled
    )
    $names = @{ Account = [string]$Object.sAMAccountName; Principal = [string]$Object.userPrincipalName; Name = $Name; Parent = $Parent }
    New-GatewayIntent -Creates -Guid ([string]$Object.ObjectGUID) -Dn $Dn -Of $Object @names
    if (Test-GatewayDisabling -Object $Object -Disabled $Disabled) { Add-GatewayIntent -Name 'enabled' -Before 'True' -After 'False' }
}

# Returns the objects below a deleted object that were deleted with it, parents first. It goes from level to level,
# to the objects whose last parent is the object. They must be in Among or, if that is not given, must have been
# deleted within ten minutes of the object. Ends the request if there are more than Most.
function Get-GatewayDeletedBelow {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $Among,
        [Parameter(Mandatory)] [int] $Most,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'read deleted tree' -Arg 'Recursive'
    $found = [System.Collections.Generic.List[object]]::new()
    $queue = [System.Collections.Generic.List[object]]::new()
    $queue.Add($Object)
    $at = ([datetime]$Object.whenChanged).ToUniversalTime()
    $named = $null -ne $Among -and $Among.Length -gt 0
    for ($i = 0; $i -lt $queue.Count; $i++) {
        $filter = '(lastKnownParent=' + (Get-GatewayLdapEscaped -Value ([string]$queue[$i].DistinguishedName)) + ')'
        foreach ($child in @(Get-GatewayDeleted -Filter $filter -Property @('memberOf', 'userPrincipalName') -Server $Server)) {
            $apart = [long](([datetime]$child.whenChanged).ToUniversalTime() - $at).TotalSeconds
            $with = $apart -le 600 -and $apart -ge -600
            if ($named) { $with = Test-GatewayListed -Value ([string]$child.ObjectGUID) -List $Among }
            if ($with -and [string]$child.isRecycled -ne 'True') {
                $queue.Add($child)
                $found.Add($child)
            }
        }
        if ($found.Count + 1 -gt $Most) {
            $message = "More than $Most objects were deleted together; one request restores at most $Most. Restore it without Recursive, then what lay in it."
            Stop-Gateway -Code 'too_many' -Arg 'Recursive' -Message $message
        }
    }
    $found.ToArray()
}

# Refuses to restore an object that the caller could not create, or that is guarded.
function Assert-GatewayRestorable {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $CreatableType,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [Parameter(Mandatory)] [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server
    )
    $type = [string]$GatewayDeletedTypes[[string]$Object.ObjectClass]
    $name = Get-GatewayFormerName -Object $Object
    if ($type -ne '' -and -not (Test-GatewayListed -Value $type -List $CreatableType)) {
        Stop-Gateway -Code 'forbidden' -Arg 'Guid' -Message "Restoring the $type '$name' needs the scope '${type}:write', too."
    }
    $limited = $type -eq 'group' -and $null -ne $AllowedGroup -and $AllowedGroup.Length -gt 0
    if ($limited -and -not (Test-GatewayNamedGroup -Group $Object -List $AllowedGroup)) {
        Stop-Gateway -Code 'limit' -Arg 'Guid' -Message 'A group is among the objects that is not among those that the caller is limited to.'
    }
    if ($Privileged) { return }
    Set-GatewayStep -Label 'check privilege' -Arg 'Guid'
    $why = Get-GatewayDeletedReason -Object $Object -GuardedGroup $GuardedGroup -Server $Server
    if ($why -ne '') { Stop-GatewayGuarded -Target $name -Why $why -Arg 'Guid' }
}

# Returns whether an account must be disabled after it is restored.
function Test-GatewayDisabling {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object, [Parameter(Mandatory)] [bool] $Disabled)
    $type = [string]$GatewayDeletedTypes[[string]$Object.ObjectClass]
    $Disabled -and @('user', 'computer') -contains $type -and ([long]$Object.userAccountControl -band 2) -eq 0
}
