# Moves an OU and everything below it. Its protection is lifted for the move and restored even if the move fails.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $OUPath,
    [Parameter(Mandatory)] [string] $OUDestinationPath,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [int] $ImpactLimit,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$ou = Find-GatewayOU -Dn $OUPath -AllowedOU $AllowedOU -Privileged $Privileged -GuardedGroup $GuardedGroup -Relocate -Server $Server -Arg 'OUPath'
$guid = [string]$ou.ObjectGUID
$dn = [string]$ou.DistinguishedName
$oldParent = Get-GatewayParentDn -Dn $dn
$wasProtected = [bool]$ou.ProtectedFromAccidentalDeletion
$target = [string](Find-GatewayOUPlace -Dn $OUDestinationPath -AllowedOU $AllowedOU -Privileged $Privileged -Server $Server)

# Guard.
if (Test-GatewayWithin -Dn $target -Base @($dn)) {
    Stop-Gateway -Code 'unprocessable' -Arg 'OUDestinationPath' -Message "'$dn' cannot be moved into itself."
}
Assert-GatewayNameFree -Name ([string]$ou.Name) -Parent $target -Except $guid -AllowedOU $AllowedOU -Server $Server -Arg 'OUDestinationPath'

# Guard: its extent.
Set-GatewayStep -Label 'count subtree' -Arg 'OUPath'
$below = @(Get-GatewayObject -Class 'any' -Filter '(objectClass=*)' -Base $dn -Server $Server).Length - 1
if ($below -ge $ImpactLimit) {
    Stop-Gateway -Code 'too_many' -Arg 'OUPath' -Message "Moving the OU '$dn' would affect it and $below objects below it."
}
$script:GatewayCounts['objects'] = [int]$below

# Announce. The protection must be restored.
New-GatewayIntent -Guid $guid -Dn $dn -Of $ou
Add-GatewayIntent -Name 'parent' -Before $oldParent -After $target
Add-GatewayIntent -Name 'protected' -Before ([string]$wasProtected) -After ([string]$wasProtected)
Write-GatewayIntent -Effect 'changed'

# Act.
$changed = -not $target.Equals($oldParent, [System.StringComparison]::OrdinalIgnoreCase)
if ($changed) {
    if ($wasProtected) { Set-GatewayProtection -Guid $guid -Protected $false -Label 'lift protection' -Dn $dn -Arg 'OUPath' -Server $Server }
    Set-GatewayStep -Label 'move OU' -Arg 'OUDestinationPath'
    Move-ADObject -Identity $guid -TargetPath $target -Server $Server -Confirm:$false
    $back = { param($Guid, $Parent, $Server) Move-ADObject -Identity $Guid -TargetPath $Parent -Server $Server -Confirm:$false }
    Complete-GatewayStep -Label 'move OU' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Parent = $oldParent; Server = $Server }
    if ($wasProtected) { Set-GatewayProtection -Guid $guid -Protected $true -Label 'restore protection' -Dn $dn -Arg 'OUPath' -Server $Server }
    Complete-GatewayChange -Effect 'changed'
}

# Report.
$record = Get-GatewayOURecord -Guid $guid -AllowedOU $AllowedOU -Server $Server
if ($changed) { Add-GatewayChange -Guid $guid -Dn ([string]$record['path']) -Before @{ path = $dn } -After @{ path = [string]$record['path'] } }
$record
