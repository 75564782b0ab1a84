# Removes a user, and returns its last record. With Recursive, it also removes all objects below the user.
# With Force, it first lifts protections.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [bool] $Force = $false,
    [bool] $Recursive = $false,
    [Parameter(Mandatory)] [int] $BulkLimit,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Kept,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$names = @(foreach ($name in ($Field + @($Kept))) { if ($name) { $name } }) # none for $null
$properties = (ConvertFrom-GatewayUserField -Field $names -Server $Server).properties + $GatewayGuardProperties + $GatewayUserImaged
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
$guid = [string]$user.ObjectGUID
$dn = [string]$user.DistinguishedName
$what = "The user '$dn'"

# Guard.
$guards = @{ Privileged = $Privileged; GuardedGroup = $GuardedGroup; Server = $Server; Arg = 'UserName' }
Assert-GatewayPrivilege -Object $user @guards
if ([string]$user.isCriticalSystemObject -eq 'True') {
    Stop-Gateway -Code 'protected' -Arg 'UserName' -Message "$what is a critical system object and cannot be removed."
}
Assert-GatewayUnprotected -What $what -Object $user -Force $Force -Arg 'UserName'
Set-GatewayStep -Label 'read children' -Arg 'UserName'
$empty = -not (Test-GatewayChild -Dn $dn -Server $Server)
Assert-GatewayEmpty -What $what -Empty $empty -Recursive $Recursive -Arg 'UserName'
$below = @()
if (-not $empty) {
    Assert-GatewayTree -Dn $dn @guards
    $limits = @{ BulkLimit = $BulkLimit; AllowedOU = $AllowedOU; AllowedGroup = $AllowedGroup; Server = $Server; Arg = 'UserName' }
    $below = @(Get-GatewayBelow -Object $user -What "the user '$dn'" -Noun 'user' -Force $Force @limits)
}
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$record = ConvertTo-GatewayUser -User @($user) -Field $shown -AllowedOU $AllowedOU -Server $Server
$restorable = Get-GatewayRestorable -Server $Server
$image = Get-GatewayImage -Class 'user' -Object $user -Attribute $Kept -Restorable $restorable -Server $Server

# Announce.
New-GatewayIntent -Removes -Guid $guid -Dn $dn -Account ([string]$user.SamAccountName) -Record $record -Image $image -Of $user
Add-GatewayProtectionIntent -Object $user
New-GatewayBelowIntent -Below $below
Write-GatewayIntent -Effect 'removed'

# Act.
Remove-GatewayTree -Object $user -Below $below -Class 'user' -Force $Force -Label 'remove user' -Server $Server -Arg 'UserName'
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayRemoval -Object $user -Record $record -Below $below
$record
