# Removes an empty OU. With Recursive, it also removes everything below the OU. With Force, it first lifts
# protections.
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

# Guard. Check the OU itself and its contents.
$what = "The OU '$dn'"
Assert-GatewayNoDefaultPlace -Dn $dn -Server $Server -Arg 'OUPath'
Assert-GatewayUnprotected -What $what -Object $ou -Force $Force -Arg 'OUPath'
Set-GatewayStep -Label 'read children' -Arg 'OUPath'
$empty = -not (Test-GatewayChild -Dn $dn -Server $Server)
Assert-GatewayEmpty -What $what -Empty $empty -Recursive $Recursive -Arg 'OUPath'
$below = @()
if (-not $empty) {
    $limits = @{ BulkLimit = $BulkLimit; AllowedOU = $AllowedOU; AllowedGroup = $AllowedGroup; Server = $Server; Arg = 'OUPath' }
    $below = @(Get-GatewayBelow -Object $ou -What "the OU '$dn'" -Noun 'OU' -Force $Force @limits)
}
$counts = @{ organizationalUnit = 1 }
foreach ($object in $below) {
    $class = [string]$object.ObjectClass
    $counts[$class] = [int]$counts[$class] + 1
}

# Announce.
$script:GatewayCounts = $counts
$restorable = Get-GatewayRestorable -Server $Server
$image = Get-GatewayImage -Class 'ou' -Object $ou -Restorable $restorable -Server $Server
New-GatewayIntent -Removes -Guid $guid -Dn $dn -Record $record -Image $image -Of $ou
Add-GatewayProtectionIntent -Object $ou
New-GatewayBelowIntent -Below $below
Write-GatewayIntent -Effect 'removed'

# Act.
Remove-GatewayTree -Object $ou -Below $below -Class 'ou' -Force $Force -Label 'remove OU' -Server $Server -Arg 'OUPath'
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayRemoval -Object $ou -Record $record -Below $below
$record
