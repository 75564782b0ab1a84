# Sets a new password for a user, and determines whether it must be changed at the next logon.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [Parameter(Mandatory)] [securestring] $Password,
    [bool] $ChangePassword = $false,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve and guard.
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$guards = $GatewayGuardProperties + @('userAccountControl', 'pwdLastSet')
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $guards -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
$guid = [string]$user.ObjectGUID
$dn = [string]$user.DistinguishedName
Assert-GatewayPrivilege -Object $user -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'UserName'
$neverExpires = ([int]$user.userAccountControl -band 0x10000) -ne 0
$forceChange = $ChangePassword -and -not $neverExpires
if ($ChangePassword -and $neverExpires) { Add-GatewayNeverExpires -Dn $dn }

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $user
$lastSet = ''
if ($forceChange) { $lastSet = '0' }
Add-GatewayIntent -Name 'pwdLastSet' -Before ([string][long]$user.pwdLastSet) -After $lastSet -Renewed -Step 'set password'
Write-GatewayIntent -Effect 'changed'

# Act. A new password cannot be undone. If a later step fails, the password is reported as remaining.
Set-GatewayStep -Label 'set password' -Arg 'Password'
Set-ADAccountPassword -Identity $guid -Reset -NewPassword $Password -Server $Server -Confirm:$false
Complete-GatewayStep -Label 'set password' -Guid $guid -Dn $dn
if ($forceChange) {
    Set-GatewayStep -Label 'force password change' -Arg 'ChangePassword'
    Set-ADUser -Identity $guid -ChangePasswordAtLogon $true -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'force password change' -Guid $guid -Dn $dn
}
Complete-GatewayChange -Effect 'changed'

# Report.
Add-GatewayChange -Guid $guid -Dn $dn -Before @{ password = '***' } -After @{ password = '***'; changePasswordNextLogon = $forceChange }
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$read = Find-GatewayAccount -Class 'user' -Identity $guid -Property $shown.properties -Arg 'UserName' -Write @limits
ConvertTo-GatewayUser -User @($read) -Field $shown -AllowedOU $AllowedOU -Server $Server
