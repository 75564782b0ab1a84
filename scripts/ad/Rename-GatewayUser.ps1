# Renames a user: the sAMAccountName, the prefix of the UPN, the display name and, if none is given, the common
# name. Each of the last three changes only if it was equal to the old username. Either all of them change or none.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [Parameter(Mandatory)] [string] $NewUserName,
    [AllowNull()] [string] $NewUserNamePlain,
    [AllowNull()] [string] $CommonName,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$needed = $GatewayGuardProperties + @('displayName')
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $needed -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
$guid = [string]$user.ObjectGUID
$dn = [string]$user.DistinguishedName
$oldSam = [string]$user.SamAccountName
$oldUpn = [string]$user.UserPrincipalName
$oldName = [string]$user.Name
$oldDisplay = [string]$user.displayName
# A UPN with another prefix was chosen deliberately, as a mail address or for Entra, and remains unchanged.
$newUpn = $oldUpn
$ownUpn = $oldUpn.StartsWith($oldSam + '@', [System.StringComparison]::OrdinalIgnoreCase) -and
    [int]$oldUpn.LastIndexOf([char]'@') -eq [int]$oldSam.Length
if ($ownUpn) { $newUpn = $NewUserName + $oldUpn.Substring($oldSam.Length) }
$takenUpn = ''
if (-not $oldUpn.Equals($newUpn, [System.StringComparison]::OrdinalIgnoreCase)) { $takenUpn = $newUpn }
# Equals compares code units. Without a second argument it is case-sensitive.
$newCn = $oldName
if ($oldName.Equals($oldSam, [System.StringComparison]::OrdinalIgnoreCase)) { $newCn = $NewUserName }
if ($CommonName) { $newCn = $CommonName }
$renameCn = -not $oldName.Equals($newCn)
$renameDisplay = $oldDisplay.Equals($oldSam, [System.StringComparison]::OrdinalIgnoreCase) -and -not $oldDisplay.Equals($NewUserName)

# Guard.
Assert-GatewayPrivilege -Object $user -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'UserName'
$cn = ''
if ($renameCn -and -not $CommonName) { $cn = $newCn }
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
$parent = Get-GatewayParentDn -Dn $dn
Assert-GatewayNameFree -Account $NewUserName -Principal $takenUpn -Name $cn -Parent $parent -Except $guid -Arg 'NewUserName' @limits
if ($renameCn -and $CommonName) { Assert-GatewayNameFree -Name $newCn -Parent $parent -Except $guid -Arg 'CommonName' @limits }
if (-not $oldSam.Equals($NewUserName, [System.StringComparison]::OrdinalIgnoreCase)) {
    Assert-GatewayUserName -Name $NewUserName -Plain $NewUserNamePlain -GuardedGroup $GuardedGroup -Arg 'NewUserName' @limits
}

if ($oldUpn -ne '' -and -not $ownUpn -and -not $oldSam.Equals($NewUserName, [System.StringComparison]::OrdinalIgnoreCase)) {
    $message = "The UPN '$oldUpn' was kept, because its prefix was not the old user name '$oldSam'."
    Add-GatewayWarning -Code 'upn_kept' -Target $dn -Message $message
}
if ($ownUpn -and -not $oldUpn.Equals($newUpn)) { Add-GatewayOddPrincipal -Principal $newUpn -Dn $dn }

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $user
Add-GatewayIntent -Name 'sAMAccountName' -Before $oldSam -After $NewUserName
Add-GatewayIntent -Name 'userPrincipalName' -Before $oldUpn -After $newUpn
if ($renameDisplay) { Add-GatewayIntent -Name 'displayName' -Before $oldDisplay -After $NewUserName }
if ($renameCn) { Add-GatewayIntent -Name 'name' -Before $oldName -After $newCn }
Write-GatewayIntent -Effect 'changed'

# Act. All attributes change in one write, and the common name in a second one.
$changed = $false
$new = @{}
$old = @{}
if (-not $oldSam.Equals($NewUserName)) { $new['sAMAccountName'] = $NewUserName; $old['sAMAccountName'] = $oldSam }
if (-not $oldUpn.Equals($newUpn)) { $new['userPrincipalName'] = [string]$newUpn; $old['userPrincipalName'] = $oldUpn }
if ($renameDisplay) { $new['displayName'] = $NewUserName; $old['displayName'] = $oldDisplay }
if ($new.Count -gt 0) {
    Set-GatewayStep -Label 'set names' -Arg 'NewUserName'
    Set-ADUser -Identity $guid -Replace $new -Server $Server -Confirm:$false
    $back = { param($Guid, $Names, $Server) Set-ADUser -Identity $Guid -Replace $Names -Server $Server -Confirm:$false }
    Complete-GatewayStep -Label 'set names' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Names = $old; Server = $Server }
    $changed = $true
}
if ($renameCn) {
    Set-GatewayStep -Label 'rename' -Arg 'NewUserName'
    Rename-ADObject -Identity $guid -NewName $newCn -Server $Server -Confirm:$false
    $back = { param($Guid, $Name, $Server) Rename-ADObject -Identity $Guid -NewName $Name -Server $Server -Confirm:$false }
    Complete-GatewayStep -Label 'rename' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Name = $oldName; Server = $Server }
    $old['cn'] = $oldName
    $new['cn'] = $newCn
    $changed = $true
}
if ($changed) { Complete-GatewayChange -Effect 'changed' }

# Report.
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$read = Find-GatewayAccount -Class 'user' -Identity $guid -Property $shown.properties -Arg 'UserName' -Write @limits
if ($changed) { Add-GatewayChange -Guid $guid -Dn ([string]$read.DistinguishedName) -Before $old -After $new }
ConvertTo-GatewayUser -User @($read) -Field $shown -AllowedOU $AllowedOU -Server $Server
