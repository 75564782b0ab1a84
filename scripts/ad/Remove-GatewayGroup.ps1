# Removes a group and returns its last record. With Force, it first lifts the group's protection.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $GroupName,
    [AllowNull()] [string] $OUPath,
    [bool] $Force = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$group = Find-GatewayGroup -Identity $GroupName -Property $GatewayGroupImaged -Arg 'GroupName' -Write @limits
$guid = [string]$group.ObjectGUID
$dn = [string]$group.DistinguishedName
if ($OUPath) {
    Set-GatewayStep -Label 'find parent' -Arg 'OUPath'
    $parent = [string](Find-GatewayContainer -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath' -Code 'not_found').DistinguishedName
    if (-not [string]::Equals((Get-GatewayParentDn -Dn $dn), $parent, [System.StringComparison]::OrdinalIgnoreCase)) {
        Stop-Gateway -Code 'not_found' -Arg 'OUPath' -Message "The group '$GroupName' does not lie directly in '$parent'."
    }
}

# Guard.
Assert-GatewayPrivilege -Object $group -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'GroupName'
Set-GatewayStep -Label 'check group' -Arg 'GroupName'
if (Test-GatewayBuiltInGroup -Group $group) {
    Stop-Gateway -Code 'protected' -Arg 'GroupName' -Message "The group '$dn' is built in and cannot be removed."
}
Assert-GatewayUnprotected -What "The group '$dn'" -Object $group -Force $Force -Arg 'GroupName'
$domain = Get-GatewayDomain -Server $Server
$primary = '(primaryGroupID=' + [long]([string]$group.SID -replace '^.*-', '') + ')'
if (@(Get-GatewayObject -Class 'any' -Filter $primary -Base $domain.dn -Server $Server).Length -gt 0) {
    $message = "The group '$dn' is the primary group of accounts. Set another one for those first: $GatewayPrimaryCall."
    Stop-Gateway -Code 'conflict' -Arg 'GroupName' -Message $message
}
$record = ConvertTo-GatewayGroup -Group @($group) -AllowedOU $AllowedOU -Server $Server
$restorable = Get-GatewayRestorable -Server $Server
$image = Get-GatewayImage -Class 'group' -Object $group -Record $record -Restorable $restorable -Server $Server

# Announce.
New-GatewayIntent -Removes -Guid $guid -Dn $dn -Account ([string]$group.SamAccountName) -Record $record -Image $image -Of $group
Add-GatewayProtectionIntent -Object $group
Write-GatewayIntent -Effect 'removed'

# Act.
Remove-GatewayTree -Object $group -Below @() -Class 'group' -Force $Force -Label 'remove group' -Server $Server -Arg 'GroupName'
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayRemoval -Object $group -Record $record -Below @()
$record
