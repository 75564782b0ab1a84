# Removes an OU: an empty one, or with Recursive the whole tree. Force lifts protections first.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $OUPath,
    [bool] $Force = $false,
    [bool] $Recursive = $false,
    [Parameter(Mandatory)] [int] $BulkLimit,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$ou = Find-GatewayOU -Dn $OUPath -AllowedOU $AllowedOU -Privileged $Privileged -GuardedGroup $GuardedGroup -Relocate -Server $Server -Arg 'OUPath'
$guid = [string]$ou.ObjectGUID
$dn = [string]$ou.DistinguishedName
$record = ConvertTo-GatewayContainer -Container @($ou)

# Guard: the OU itself.
Assert-GatewayNoDefaultPlace -Dn $dn -Server $Server -Arg 'OUPath'
if ([bool]$ou.ProtectedFromAccidentalDeletion -and -not $Force) {
    Stop-Gateway -Code 'protected' -Arg 'OUPath' -Message "The OU '$dn' is protected from accidental deletion. Force=true lifts the protection."
}
Set-GatewayStep -Label 'read children' -Arg 'OUPath'
$empty = -not (Test-GatewayChild -Dn $dn -Server $Server)
if (-not $empty -and -not $Recursive) {
    Stop-Gateway -Code 'not_empty' -Arg 'OUPath' -Message "The OU '$dn' is not empty. Recursive=true removes what is below it, too."
}

# Guard: its contents. They are counted first, because a tree may be large.
$below = @()
if (-not $empty) {
    Set-GatewayStep -Label 'count subtree' -Arg 'OUPath'
    $all = @(Get-GatewayObject -Class 'any' -Filter '(objectClass=*)' -Base $dn -Server $Server)
    $total = $all.Length
    if ($total -gt $BulkLimit) {
        Stop-Gateway -Code 'too_many' -Arg 'OUPath' -Message "Removing the OU '$dn' would remove $total objects; one request removes at most $BulkLimit."
    }
    Set-GatewayStep -Label 'read subtree' -Arg 'OUPath'
    $guids = @(foreach ($object in $all) { [string]$object.ObjectGUID })
    $needed = @(
        'ProtectedFromAccidentalDeletion', 'isCriticalSystemObject', 'adminCount', 'primaryGroupID', 'userAccountControl',
        'sAMAccountName', 'objectSid'
    )
    $below = @(foreach ($object in @(Get-GatewayObjectAgain -Guid $guids -Property $needed -Base $dn -Server $Server)) {
        if ([string]$object.ObjectGUID -ne $guid) { $object }
    })
}
$counts = @{ organizationalUnit = 1 }
$limits = @{ AllowedOU = $AllowedOU; AllowedGroup = $AllowedGroup }
foreach ($object in $below) {
    $name = [string]$object.DistinguishedName
    if ([string]$object.isCriticalSystemObject -eq 'True' -or (Test-GatewayController -Computer $object)) {
        Stop-Gateway -Code 'protected' -Arg 'OUPath' -Message "'$name' is a domain controller or a critical system object; it is never removed with an OU."
    }
    if ([bool]$object.ProtectedFromAccidentalDeletion -and -not $Force) {
        Stop-Gateway -Code 'protected' -Arg 'OUPath' -Message "'$name' is protected from accidental deletion. Force=true lifts all protections below the OU."
    }
    $class = [string]$object.ObjectClass
    if ($class -eq 'group') { Assert-GatewayGroupBelow -Group $object -Tree $dn -Server $Server -Arg 'OUPath' @limits }
    $counts[$class] = [int]$counts[$class] + 1
}

# Announce. Objects that remain must keep their protection.
$script:GatewayCounts = $counts
$restorable = Get-GatewayRestorable -Server $Server
$image = Get-GatewayImage -Class 'ou' -Object $ou -Restorable $restorable -Server $Server
$protected = [bool]$ou.ProtectedFromAccidentalDeletion
New-GatewayIntent -Removes -Guid $guid -Dn $dn -Record $record -Image $image -Of $ou
Add-GatewayIntent -Name 'protected' -Before ([string]$protected) -After ([string]$protected)
foreach ($object in $below) {
    New-GatewayIntent -Removes -Guid ([string]$object.ObjectGUID) -Dn ([string]$object.DistinguishedName) -Of $object
    $guarded = [string][bool]$object.ProtectedFromAccidentalDeletion
    Add-GatewayIntent -Name 'protected' -Before $guarded -After $guarded
}
Write-GatewayIntent -Effect 'removed'

# Act: protections below first, then the OU's own, then the tree (facts E43, E44).
foreach ($object in $below) {
    if ([bool]$object.ProtectedFromAccidentalDeletion) {
        $target = @{ Guid = [string]$object.ObjectGUID; Dn = [string]$object.DistinguishedName }
        Set-GatewayProtection -Protected $false -Label 'lift protection' -Arg 'Force' -Server $Server @target
    }
}
if ($protected) { Set-GatewayProtection -Guid $guid -Protected $false -Label 'lift protection' -Dn $dn -Arg 'Force' -Server $Server }
$half = $Force -and -not $protected
$removed = $false
while (-not $removed) {
    Set-GatewayStep -Label 'remove OU' -Arg 'OUPath'
    try {
        Remove-ADOrganizationalUnit -Identity $guid -Recursive:($below.Length -gt 0) -Server $Server -Confirm:$false
        Complete-GatewayStep -Label 'remove OU' -Guid $guid -Dn $dn
        $removed = $true
    } catch {
        if (-not $half -or [string]$_.CategoryInfo.Category -ne 'PermissionDenied') {
            Complete-GatewayLoss -Object $below -Server $Server
            throw
        }
    }
    if (-not $removed) {
        # The OU's own half of a protection reads as unprotected but still denies (facts E37, E41).
        $half = $false
        Clear-GatewayHalfProtection -Guid $guid -Dn $dn -Arg 'Force' -Server $Server
    }
}
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayChange -Guid $guid -Dn $dn -Before $record -After $null
foreach ($object in $below) {
    $lost = @{ name = [string]$object.Name; class = [string]$object.ObjectClass }
    Add-GatewayChange -Guid ([string]$object.ObjectGUID) -Dn ([string]$object.DistinguishedName) -Before $lost -After $null
}
$record
