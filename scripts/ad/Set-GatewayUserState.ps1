# Enables, disables or unlocks a user. Nothing is written if the user is already in that state.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [Parameter(Mandatory)] [ValidateSet('Enabled', 'Disabled', 'Unlocked')] [string] $State,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve and guard.
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$guards = $GatewayGuardProperties + @('LockedOut')
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $guards -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
$guid = [string]$user.ObjectGUID
$dn = [string]$user.DistinguishedName
Assert-GatewayPrivilege -Object $user -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'UserName'

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $user
if ($State -eq 'Unlocked') {
    Add-GatewayIntent -Name 'lockedOut' -Before ([string][bool]$user.LockedOut) -After 'False'
} else {
    Add-GatewayIntent -Name 'enabled' -Before ([string][bool]$user.Enabled) -After ([string]($State -eq 'Enabled'))
}
Write-GatewayIntent -Effect 'changed'

# Act.
$before = @{ enabled = [bool]$user.Enabled; lockedOut = [bool]$user.LockedOut }
$changed = $false
if ($State -eq 'Enabled' -and -not [bool]$user.Enabled) {
    Set-GatewayStep -Label 'enable user' -Arg 'UserName'
    try {
        Enable-ADAccount -Identity $guid -Server $Server -Confirm:$false
    } catch {
        if ((Get-GatewayErrorCode -Record $_) -ne '1325') { throw }
        Stop-Gateway -Code 'policy' -Arg 'UserName' -Message "The user '$dn' has no password that the policy of the domain allows. Set one first."
    }
    Complete-GatewayStep -Label 'enable user' -Guid $guid -Dn $dn
    $changed = $true
}
if ($State -eq 'Disabled' -and [bool]$user.Enabled) {
    Set-GatewayStep -Label 'disable user' -Arg 'UserName'
    Disable-ADAccount -Identity $guid -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'disable user' -Guid $guid -Dn $dn
    $changed = $true
}
if ($State -eq 'Unlocked' -and [bool]$user.LockedOut) {
    Set-GatewayStep -Label 'unlock user' -Arg 'UserName'
    Unlock-ADAccount -Identity $guid -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'unlock user' -Guid $guid -Dn $dn
    $changed = $true
}
if ($changed) { Complete-GatewayChange -Effect 'changed' }

# Report.
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$properties = $shown.properties + @('LockedOut')
$read = Find-GatewayAccount -Class 'user' -Identity $guid -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
if ($changed) {
    Add-GatewayChange -Guid $guid -Dn $dn -Before $before -After @{ enabled = [bool]$read.Enabled; lockedOut = [bool]$read.LockedOut }
}
ConvertTo-GatewayUser -User @($read) -Field $shown -AllowedOU $AllowedOU -Server $Server
