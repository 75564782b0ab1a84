# Renames an OU. Protection does not block it (facts E40).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $OUPath,
    [Parameter(Mandatory)] [string] $OUNewName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [int] $ImpactLimit,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve and guard.
$ou = Find-GatewayOU -Dn $OUPath -AllowedOU $AllowedOU -Privileged $Privileged -GuardedGroup $GuardedGroup -Relocate -Server $Server -Arg 'OUPath'
$guid = [string]$ou.ObjectGUID
$dn = [string]$ou.DistinguishedName
$oldName = [string]$ou.Name
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
Assert-GatewayNameFree -Name $OUNewName -Parent (Get-GatewayParentDn -Dn $dn) -Except $guid -Arg 'OUNewName' @limits

# Guard against too many affected objects.
Set-GatewayStep -Label 'count subtree' -Arg 'OUPath'
$below = @(Get-GatewayObject -Class 'any' -Filter '(objectClass=*)' -Base $dn -Server $Server).Length - 1
if ($below -ge $ImpactLimit) {
    Stop-Gateway -Code 'too_many' -Arg 'OUPath' -Message "Renaming the OU '$dn' would affect it and $below objects below it."
}
$script:GatewayCounts['objects'] = [int]$below

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $ou
Add-GatewayIntent -Name 'name' -Before $oldName -After $OUNewName
Write-GatewayIntent -Effect 'changed'

# Act.
$changed = -not $oldName.Equals($OUNewName, [System.StringComparison]::Ordinal)
if ($changed) {
    Set-GatewayStep -Label 'rename OU' -Arg 'OUNewName'
    Rename-ADObject -Identity $guid -NewName $OUNewName -Server $Server -Confirm:$false
    $back = { param($Guid, $Name, $Server) Rename-ADObject -Identity $Guid -NewName $Name -Server $Server -Confirm:$false }
    Complete-GatewayStep -Label 'rename OU' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Name = $oldName; Server = $Server }
    Complete-GatewayChange -Effect 'changed'
}

# Report.
$record = Get-GatewayOURecord -Guid $guid -AllowedOU $AllowedOU -Server $Server
if ($changed) {
    $now = @{ name = [string]$record['name']; path = [string]$record['path'] }
    Add-GatewayChange -Guid $guid -Dn ([string]$record['path']) -Before @{ name = $oldName; path = $dn } -After $now
}
$record
