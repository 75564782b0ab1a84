# Updates a user. An absent input leaves the stored value unchanged, and an empty input clears it. Everything is
# resolved and checked before the first write. If a step fails, the earlier ones are undone. The password is set
# late, because it cannot be undone, and the flag for a change at the next logon is set after the password (facts
# H10).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [AllowNull()] [securestring] $Password,
    [AllowNull()] [string] $CommonName,
    [AllowNull()] [string] $CommonNameOdd,
    [bool] $CommonNameBack = $false,
    [AllowNull()] [string] $UserPrincipalName,
    [AllowNull()] [string] $UserPrincipalNameOdd,
    [bool] $UserPrincipalNameBack = $false,
    [AllowNull()] [string] $FirstName,
    [AllowNull()] [string] $Initials,
    [AllowNull()] [string] $LastName,
    [AllowNull()] [string] $DisplayName,
    [AllowNull()] [string] $Description,
    [AllowNull()] [string] $EmailAddress,
    [AllowNull()] [string] $Department,
    [AllowNull()] [string] $Office,
    [AllowNull()] [string] $Company,
    [AllowNull()] [string] $JobTitle,
    [AllowNull()] [string] $OUPath,
    [bool] $ChangePasswordNextLogon,
    [bool] $PasswordNeverExpired,
    [AllowNull()] [string] $Manager,
    [AllowNull()] [string] $Street,
    [AllowNull()] [string] $POBox,
    [AllowNull()] [string] $City,
    [AllowNull()] [string] $State,
    [AllowNull()] [string] $ZipCode,
    [AllowNull()] [string] $CountryCode2,
    [AllowNull()] [string] $CountryName,
    [int] $CountryNumber,
    [AllowNull()] [string] $OfficePhone,
    [AllowNull()] [string] $HomePhone,
    [AllowNull()] [string] $MobilePhone,
    [AllowNull()] [string] $ProfilePath,
    [AllowNull()] [string] $ProfileLogonScript,
    [AllowNull()] [string] $HomeFolderDirectory,
    [AllowNull()] [string] $HomeFolderDrive,
    [AllowNull()] [string] $HomeFolderPath,
    [AllowNull()] [string] $RdsProfilePath,
    [AllowNull()] [string] $RdsHomeFolderPath,
    [AllowNull()] [string] $RdsHomeFolderDrive,
    [bool] $RdsConnectDrive,
    [bool] $RdsAllowLogon,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Attribute,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve, and guard the user itself.
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$wanted = @{}
foreach ($name in @($GatewayUserTexts.Keys)) {
    if ($PSBoundParameters.ContainsKey($name)) { $wanted[$GatewayUserTexts[$name]] = [string]$PSBoundParameters[$name] }
}
if ($PSBoundParameters.ContainsKey('CountryCode2')) { $wanted['countryCode'] = [string]$CountryNumber }
if ($PSBoundParameters.ContainsKey('Manager')) { $wanted['manager'] = '' }
$needed = $GatewayGuardProperties + @('userAccountControl', 'pwdLastSet', 'ProtectedFromAccidentalDeletion') + @($wanted.Keys)
$further = @(ConvertFrom-GatewayAttribute -Line $Attribute)
foreach ($one in $further) { $needed += $one.name }
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $needed -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
$guid = [string]$user.ObjectGUID
$dn = [string]$user.DistinguishedName
Assert-GatewayPrivilege -Object $user -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'UserName'
$parent = Get-GatewayParentDn -Dn $dn
$target = $parent
if ($OUPath) {
    Set-GatewayStep -Label 'find target' -Arg 'OUPath'
    $target = [string](Find-GatewayContainer -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath' -Code 'unprocessable').DistinguishedName
}
if ($Manager) { $wanted['manager'] = [string](Find-GatewayManager -Manager $Manager -AllowedOU $AllowedOU -Server $Server) }
$stored = Get-GatewayUserStored -User $user -Name @($wanted.Keys)
$moves = -not $target.Equals($parent, [System.StringComparison]::OrdinalIgnoreCase)

$oldName = [string]$user.Name
$newName = $oldName
if ($CommonName) { $newName = $CommonName }
$renames = -not $oldName.Equals($newName)
$oldUpn = [string]$user.UserPrincipalName
$newUpn = $oldUpn
if ($UserPrincipalName -or $UserPrincipalNameBack) { $newUpn = [string]$UserPrincipalName }

# Guard. A name that may no longer be assigned may remain unchanged.
if ($renames -and $CommonNameOdd) { Stop-Gateway -Code 'invalid_request' -Arg 'CommonName' -Message "Name $CommonNameOdd." }
if ($UserPrincipalNameOdd -and -not $oldUpn.Equals($newUpn)) {
    Stop-Gateway -Code 'invalid_request' -Arg 'UserPrincipalName' -Message "UserPrincipalName $UserPrincipalNameOdd."
}
$free = @{ Except = $guid; AllowedOU = $AllowedOU; Server = $Server }
if ($renames) { Assert-GatewayNameFree -Name $newName -Parent $parent -Arg 'CommonName' @free }
if ($newUpn -ne '' -and -not $oldUpn.Equals($newUpn)) {
    Assert-GatewayPrincipal -Principal $newUpn -Stored:$UserPrincipalNameBack @free
    Assert-GatewayNameFree -Principal $newUpn -Arg 'UserPrincipalName' @free
    Add-GatewayOddPrincipal -Principal $newUpn -Dn $dn
}
Assert-GatewayAttribute -Attribute $further @free
if ($moves) {
    Assert-GatewayPlace -Dn $target -Privileged $Privileged -Server $Server -Arg 'OUPath'
    Assert-GatewayMovable -Object $user -Target $target -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
    if ($renames) { Assert-GatewayNameFree -Name $newName -Parent $target -Arg 'CommonName' @free }
}
$neverExpires = ([int]$user.userAccountControl -band 0x10000) -ne 0
$willNeverExpire = $neverExpires
if ($PSBoundParameters.ContainsKey('PasswordNeverExpired')) { $willNeverExpire = $PasswordNeverExpired }
$forceChange = $PSBoundParameters.ContainsKey('ChangePasswordNextLogon') -and $ChangePasswordNextLogon
$ignoresChange = $forceChange -and $willNeverExpire
if ($ignoresChange) { Add-GatewayNeverExpires -Dn $dn }
$rdsArg = Get-GatewayRdsGiven -Given $PSBoundParameters
$rdsOld = ''
$rdsNew = ''
if ($rdsArg -ne '') {
    Set-GatewayStep -Label 'read remote desktop settings' -Arg $rdsArg
    $rdsOld = [string](Get-GatewayUserParameters -Guid $guid -Server $Server)
    $rdsNew = [string](ConvertTo-GatewayUserParameters -Text $rdsOld -Given $PSBoundParameters)
}
$rdsChanges = -not [string]::Equals($rdsOld, $rdsNew, [System.StringComparison]::Ordinal)
$change = Compare-GatewayUserText -Stored $stored -Wanted $wanted
Compare-GatewayAttribute -Change $change -User $user -Attribute $further
if (-not $oldUpn.Equals($newUpn)) {
    $change.number++
    $change.before['userPrincipalName'] = $oldUpn
    $change.after['userPrincipalName'] = $newUpn
    if ($newUpn -eq '') { $change.clear.Add('userPrincipalName') } else { $change.replace['userPrincipalName'] = [string]$newUpn }
    if ($oldUpn -eq '') { $change.oldClear.Add('userPrincipalName') } else { $change.oldReplace['userPrincipalName'] = $oldUpn }
}
$before = $change.before
$after = $change.after
# Setting a password counts as a change, regardless of the state before.
$mustChange = [long]$user.pwdLastSet -eq 0 -and $null -eq $Password
$setsChange = $PSBoundParameters.ContainsKey('ChangePasswordNextLogon') -and -not $ignoresChange -and $ChangePasswordNextLogon -ne $mustChange
$steps = 0

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $user
foreach ($name in @($change.after.Keys)) {
    Add-GatewayIntent -Name $name -Before ([string]$change.before[$name]) -After ([string]$change.after[$name])
}
if ($rdsChanges) {
    $oldPacked = [Convert]::ToBase64String([System.Text.Encoding]::Unicode.GetBytes($rdsOld))
    $newPacked = [Convert]::ToBase64String([System.Text.Encoding]::Unicode.GetBytes($rdsNew))
    Add-GatewayIntent -Name 'userParameters' -Before $oldPacked -After $newPacked
}
if ($willNeverExpire -ne $neverExpires) {
    Add-GatewayIntent -Name 'passwordNeverExpired' -Before ([string]$neverExpires) -After ([string]$willNeverExpire)
}
if ($renames) { Add-GatewayIntent -Name 'name' -Before $oldName -After $newName }
if ($moves) { Add-GatewayIntent -Name 'parent' -Before $parent -After $target }
if ($null -ne $Password -or $setsChange) {
    $lastSet = ''
    if ($setsChange -and $ChangePasswordNextLogon) { $lastSet = '0' }
    $renewed = $null -ne $Password -or $lastSet -eq ''
    Add-GatewayIntent -Name 'pwdLastSet' -Before ([string][long]$user.pwdLastSet) -After $lastSet -Renewed:$renewed -Step 'set password'
}
Write-GatewayIntent -Effect 'changed'

# Act.
if ($change.number -gt 0) {
    Set-GatewayStep -Label 'set attributes' -Arg 'UserName'
    Set-GatewayUserText -Guid $guid -Replace $change.replace -Clear $change.clear.ToArray() -Server $Server
    $back = { param($Guid, $Replace, $Clear, $Server) Set-GatewayUserText -Guid $Guid -Replace $Replace -Clear $Clear -Server $Server }
    Complete-GatewayStep -Label 'set attributes' -Guid $guid -Dn $dn -Undo $back -Arguments @{
        Guid = $guid; Replace = $change.oldReplace; Clear = $change.oldClear.ToArray(); Server = $Server
    }
    $steps++
}
if ($rdsChanges) {
    Set-GatewayStep -Label 'set remote desktop settings' -Arg $rdsArg
    Set-GatewayUserParameters -Guid $guid -Old $rdsOld -New $rdsNew -Server $Server -Arg $rdsArg
    $back = { param($Guid, $Old, $New, $Server) Set-GatewayUserParameters -Guid $Guid -Old $Old -New $New -Server $Server }
    Complete-GatewayStep -Label 'set remote desktop settings' -Guid $guid -Dn $dn -Undo $back -Arguments @{
        Guid = $guid; Old = $rdsNew; New = $rdsOld; Server = $Server
    }
    foreach ($name in $GatewayRdsInputs) {
        if ($PSBoundParameters.ContainsKey($name)) { $after[$name] = [string]$PSBoundParameters[$name] }
    }
    $before['userParameters'] = [string][Convert]::ToBase64String([System.Text.Encoding]::Unicode.GetBytes($rdsOld))
    $steps++
}
if ($willNeverExpire -ne $neverExpires) {
    Set-GatewayStep -Label 'set flags' -Arg 'PasswordNeverExpired'
    Set-ADUser -Identity $guid -PasswordNeverExpires $willNeverExpire -Server $Server -Confirm:$false
    $back = { param($Guid, $Flag, $Server) Set-ADUser -Identity $Guid -PasswordNeverExpires $Flag -Server $Server -Confirm:$false }
    Complete-GatewayStep -Label 'set flags' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Flag = $neverExpires; Server = $Server }
    $before['passwordNeverExpired'] = $neverExpires
    $after['passwordNeverExpired'] = $willNeverExpire
    $steps++
}
if ($renames) {
    Set-GatewayStep -Label 'rename' -Arg 'CommonName'
    Rename-ADObject -Identity $guid -NewName $newName -Server $Server -Confirm:$false
    $back = { param($Guid, $Name, $Server) Rename-ADObject -Identity $Guid -NewName $Name -Server $Server -Confirm:$false }
    Complete-GatewayStep -Label 'rename' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Name = $oldName; Server = $Server }
    $before['name'] = $oldName
    $after['name'] = $newName
    $steps++
}
if ($moves) {
    Set-GatewayStep -Label 'move user' -Arg 'OUPath'
    Move-ADObject -Identity $guid -TargetPath $target -Server $Server -Confirm:$false
    $back = { param($Guid, $Parent, $Server) Move-ADObject -Identity $Guid -TargetPath $Parent -Server $Server -Confirm:$false }
    Complete-GatewayStep -Label 'move user' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Parent = $parent; Server = $Server }
    $before['ouPath'] = [string]$parent
    $after['ouPath'] = [string]$target
    $steps++
}
if ($null -ne $Password) {
    Set-GatewayStep -Label 'set password' -Arg 'Password'
    Set-ADAccountPassword -Identity $guid -Reset -NewPassword $Password -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'set password' -Guid $guid -Dn $dn
    $before['password'] = '***'
    $after['password'] = '***'
    $steps++
}
if ($setsChange) {
    Set-GatewayStep -Label 'set password change' -Arg 'ChangePasswordNextLogon'
    Set-ADUser -Identity $guid -ChangePasswordAtLogon $ChangePasswordNextLogon -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'set password change' -Guid $guid -Dn $dn
    $before['changePasswordNextLogon'] = -not $ChangePasswordNextLogon
    $after['changePasswordNextLogon'] = $ChangePasswordNextLogon
    $steps++
}
if ($steps -gt 0) { Complete-GatewayChange -Effect 'changed' }

# Report.
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$read = Find-GatewayAccount -Class 'user' -Identity $guid -Property $shown.properties -Arg 'UserName' -Write @limits
if ($steps -gt 0) { Add-GatewayChange -Guid $guid -Dn ([string]$read.DistinguishedName) -Before $before -After $after }
ConvertTo-GatewayUser -User @($read) -Field $shown -AllowedOU $AllowedOU -Server $Server
