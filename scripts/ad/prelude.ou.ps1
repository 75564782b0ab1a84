# Functions shared by the scripts for OUs.

# Finds an OU, a container or the domain root by its GUID within the caller's limits.
function Find-GatewayContainerByGuid {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Guid)) + ')'
    $base = (Get-GatewayDomain -Server $Server).dn
    $all = @(Get-GatewayObject -Class 'container' -Filter $filter -Property $GatewayContainerProperties -Base $base -Server $Server)
    $found = @(Select-GatewayAllowed -Found $all -AllowedOU $AllowedOU -Server $Server)
    if ($found.Length -eq 1) { return $found[0] }
    if ($all.Length -gt 0) { $script:GatewayOutside = $true }
    $message = "There is no OU or container with the GUID '$Guid'" + (Get-GatewayScopeText -AllowedOU $AllowedOU) + '.'
    Stop-Gateway -Code 'not_found' -Arg $Arg -Message $message
}

# Finds the OU that a request changes. Containers and the domain root cannot be changed;
# the OU of Windows itself (Domain Controllers) can be changed by privileged callers only, and cannot be
# moved or renamed.
function Find-GatewayOU {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [switch] $Relocate,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    Set-GatewayStep -Label 'find OU' -Arg $Arg
    $properties = $GatewayContainerProperties + @('isCriticalSystemObject')
    $ou = Find-GatewayContainer -Dn $Dn -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg $Arg -Code 'not_found'
    $found = [string]$ou.DistinguishedName
    if ($Relocate) { Assert-GatewayNoLimit -Dn $found -AllowedOU $AllowedOU -Server $Server -Arg $Arg }
    if ([string]$ou.ObjectClass -ne 'organizationalUnit') {
        Stop-Gateway -Code 'protected' -Arg $Arg -Message "'$found' is a container, not an OU; containers are not changed here."
    }
    if ($Relocate -and [string]$ou.isCriticalSystemObject -eq 'True') {
        Stop-Gateway -Code 'protected' -Arg $Arg -Message "'$found' is a critical system object; it cannot be moved, renamed or removed."
    }
    Assert-GatewayPrivilege -Object $ou -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg $Arg
    if ($Relocate) { Assert-GatewayTree -Dn $found -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg $Arg }
    $ou
}

# The distinguished name of the parent that a request gives for an OU.
function Find-GatewayOUPlace {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [bool] $Privileged,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'find destination' -Arg 'OUDestinationPath'
    $place = Find-GatewayContainer -Dn $Dn -AllowedOU $AllowedOU -Server $Server -Arg 'OUDestinationPath' -Code 'unprocessable'
    $found = [string]$place.DistinguishedName
    if (@('organizationalUnit', 'domainDNS') -notcontains [string]$place.ObjectClass) {
        Stop-Gateway -Code 'unprocessable' -Arg 'OUDestinationPath' -Message "'$found' is a container: an OU lies in an OU or in the domain itself."
    }
    Assert-GatewayPlace -Dn $found -Privileged $Privileged -Server $Server -Arg 'OUDestinationPath'
    $found
}

# The OU that a failed step of this request has created all the same, or $null. One that is older than any
# request is another's.
function Find-GatewayNewOU {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [string] $Parent,
        [Parameter(Mandatory)] [string] $Server
    )
    $filter = '(&(objectClass=organizationalUnit)(ou=' + (Get-GatewayLdapEscaped -Value $Name) + '))'
    $search = @{ Class = 'container'; Filter = $filter; Base = $Parent; Scope = 'OneLevel'; Property = 'whenCreated'; Server = $Server }
    foreach ($ou in @(Get-GatewayObject @search)) {
        if ((Get-GatewayAge -Object $ou -Server $Server) -le 300) { return $ou }
    }
    $null
}

# Returns whether the module itself refused an account that may not read or change access lists: its error
# has no number (facts E39). Errors of the web service without a number have its fault inside, and are of
# other kinds (facts D14).
function Test-GatewayRefusal {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    if ($Record.Exception.GetType().Name -ne 'ADException' -or [string]$Record.Exception.ErrorCode -ne '0') { return $false }
    $null -eq $Record.Exception.InnerException
}

# Sets or lifts the protection of an object as a step with an undo (facts E36-E41). An object that reads as
# wanted is left alone: the module would change nothing (facts E38).
# ForGood omits the undo, because the state before cannot be set again.
function Set-GatewayProtection {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [bool] $Protected,
        [Parameter(Mandatory)] [string] $Label,
        [string] $Dn,
        [string] $Arg,
        [switch] $ForGood,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label $Label -Arg $Arg
    $object = Get-ADObject -Identity $Guid -Properties 'ProtectedFromAccidentalDeletion' -Server $Server
    $now = $object.ProtectedFromAccidentalDeletion # $null if an access list cannot be read (facts E37)
    if ($null -ne $now -and [bool]$now -eq $Protected) { return }
    try {
        Set-ADObject -Identity $Guid -ProtectedFromAccidentalDeletion $Protected -Server $Server -Confirm:$false
    } catch {
        if (-not (Test-GatewayRefusal -Record $_)) { throw }
        $message = "The gateway's service account may not change the access lists of '$Dn' and its parent, " +
            'which the protection from accidental deletion is made of.'
        Stop-Gateway -Code 'directory_denied' -Arg $Arg -Message $message
    }
    $back = $null
    if (-not $ForGood) {
        $back = {
            param($Guid, $Protected, $Server)
            Set-ADObject -Identity $Guid -ProtectedFromAccidentalDeletion $Protected -Server $Server -Confirm:$false
        }
    }
    Complete-GatewayStep -Label $Label -Guid $Guid -Dn $Dn -Undo $back -Arguments @{ Guid = $Guid; Protected = (-not $Protected); Server = $Server }
}

# Lifts the half of a protection that an object has while its parent lacks the other. It reads as unprotected,
# so that the module lifts nothing until the protection is complete (facts E37, E38). If a later step fails,
# the object is left with the whole protection, and is reported to remain: half of it cannot be set.
function Clear-GatewayHalfProtection {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [string] $Arg,
        [Parameter(Mandatory)] [string] $Server
    )
    $target = @{ Guid = $Guid; Dn = $Dn; Arg = $Arg; Server = $Server }
    Set-GatewayProtection -Protected $true -Label 'complete protection' -ForGood @target
    Set-GatewayProtection -Protected $false -Label 'lift protection' @target
}

# Refuses to remove a group as part of a tree if it could not be removed by itself: because of the
# caller's limits or remaining accounts whose primary group it is.
function Assert-GatewayGroupBelow {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [string] $Tree,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    $name = [string]$Group.DistinguishedName
    if (@(Get-GatewayAllowedGroup -Group @($Group) -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server).Length -eq 0) {
        Stop-Gateway -Code 'limit' -Arg $Arg -Message 'A group lies below the OU that is not among those that the caller is limited to.'
    }
    Set-GatewayStep -Label 'check primary groups' -Arg $Arg
    $filter = '(primaryGroupID=' + (Get-GatewayLdapEscaped -Value (([string]$Group.objectSid) -replace '^.*-', '')) + ')'
    foreach ($holder in @(Get-GatewayObject -Class 'any' -Filter $filter -Base (Get-GatewayDomain -Server $Server).dn -Server $Server)) {
        if (-not (Test-GatewayWithin -Dn ([string]$holder.DistinguishedName) -Base @($Tree))) {
            $account = "'" + [string]$holder.DistinguishedName + "'"
            if (-not (Test-GatewayAllowed -Dn ([string]$holder.DistinguishedName) -AllowedOU $AllowedOU -Server $Server)) { $account = 'an account' }
            $message = "'$name' lies below the OU and is the primary group of $account. Set another one for that $GatewayElsewhere first."
            Stop-Gateway -Code 'conflict' -Arg $Arg -Message $message
        }
    }
}

# Reports which objects of a tree are gone after its removal failed: the directory may have removed some
# (facts E44), which cannot be undone.
function Complete-GatewayLoss {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Object,
        [Parameter(Mandatory)] [string] $Server
    )
    $base = (Get-GatewayDomain -Server $Server).dn
    foreach ($item in $Object) {
        $guid = [string]$item.ObjectGUID
        $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$guid)) + ')'
        if (@(Get-GatewayObject -Class 'any' -Filter $filter -Base $base -Server $Server).Length -eq 0) {
            Complete-GatewayStep -Label 'removed below OU' -Guid $guid -Dn ([string]$item.DistinguishedName)
        }
    }
}

# The current record of an OU.
function Get-GatewayOURecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    ConvertTo-GatewayContainer -Container @(Find-GatewayContainerByGuid -Guid $Guid -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath')
}
