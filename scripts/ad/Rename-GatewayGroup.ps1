# Renames a group. Either both the sAMAccountName and the common name change, or neither does. They become the same
# unless a common name is given.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $GroupName,
    [Parameter(Mandatory)] [string] $NewGroupName,
    [AllowNull()] [string] $CommonName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$group = Find-GatewayGroup -Identity $GroupName -Property $GatewayGroupProperties -Arg 'GroupName' -Write @limits
$guid = [string]$group.ObjectGUID
$dn = [string]$group.DistinguishedName
$oldAccount = [string]$group.SamAccountName
$oldName = [string]$group.Name
$newName = $NewGroupName
if ($CommonName) { $newName = $CommonName }

# Guard.
Assert-GatewayPrivilege -Object $group -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'GroupName'
if ([string]$group.SID -match '^S-1-5-32-') { # systemFlags forbids it
    Stop-Gateway -Code 'protected' -Arg 'GroupName' -Message "The group '$dn' is built in and keeps its name."
}
Assert-GatewayGroupName -Name $NewGroupName -Guid $guid -Sid (Get-GatewaySid -Object $group) -AllowedGroup $AllowedGroup -Arg 'NewGroupName'
$parent = Get-GatewayParentDn -Dn $dn
$cn = $NewGroupName
if ($CommonName) { $cn = '' }
Assert-GatewayNameFree -Account $NewGroupName -Name $cn -Parent $parent -Except $guid -Arg 'NewGroupName' @limits
if ($CommonName) { Assert-GatewayNameFree -Name $newName -Parent $parent -Except $guid -Arg 'CommonName' @limits }

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Account $oldAccount -Of $group
Add-GatewayIntent -Name 'sAMAccountName' -Before $oldAccount -After $NewGroupName
Add-GatewayIntent -Name 'name' -Before $oldName -After $newName
Write-GatewayIntent -Effect 'changed'

# Act. A name that already has the new value is not written. Equals compares code units, including their case.
$changed = $false
if (-not $oldAccount.Equals($NewGroupName)) {
    Set-GatewayStep -Label 'set account name' -Arg 'NewGroupName'
    Set-ADGroup -Identity $guid -SamAccountName $NewGroupName -Server $Server -Confirm:$false
    $back = {
        param($Guid, $Account, $Server)
        Set-ADGroup -Identity $Guid -SamAccountName $Account -Server $Server -Confirm:$false
    }
    Complete-GatewayStep -Label 'set account name' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Account = $oldAccount; Server = $Server }
    $changed = $true
}
if (-not $oldName.Equals($newName)) {
    Set-GatewayStep -Label 'rename group' -Arg 'NewGroupName'
    Rename-ADObject -Identity $guid -NewName $newName -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'rename group' -Guid $guid -Dn $dn
    $changed = $true
}
if ($changed) { Complete-GatewayChange -Effect 'changed' }

# Report.
$renamed = Find-GatewayAccount -Class 'group' -Identity $guid -Property $GatewayGroupProperties -Arg 'GroupName' -Write @limits
if ($changed) {
    $before = [ordered]@{ name = $oldName; samName = $oldAccount; distinguishedName = $dn }
    $after = [ordered]@{ name = [string]$renamed.Name; samName = [string]$renamed.SamAccountName; distinguishedName = [string]$renamed.DistinguishedName }
    Add-GatewayChange -Guid $guid -Dn ([string]$renamed.DistinguishedName) -Before $before -After $after
}
ConvertTo-GatewayGroup -Group @($renamed) -AllowedOU $AllowedOU -Server $Server
