# Enables, disables or unlocks a user. What is so already is left alone.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [Parameter(Mandatory)] [ValidateSet('Enabled', 'Disabled', 'Unlocked')] [string] $State,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve and guard.
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property @('LockedOut', 'adminCount', 'isCriticalSystemObject') -Server $Server -Arg 'UserName' -Write
$guid = [string]$user.ObjectGUID
$dn = [string]$user.DistinguishedName
Assert-GatewayAllowed -Dn $dn -AllowedOU $AllowedOU -Server $Server -Arg 'UserName'
Assert-GatewayPrivilege -Object $user -Privileged $Privileged -Server $Server -Arg 'UserName'

# Act.
$before = @{ enabled = [bool]$user.Enabled; lockedOut = [bool]$user.LockedOut }
$label = ''
if ($State -eq 'Enabled' -and -not [bool]$user.Enabled) {
    $label = 'enable user'
    Set-GatewayStep -Label 'enable user' -Arg 'UserName'
    Enable-ADAccount -Identity $guid -Server $Server -Confirm:$false
}
if ($State -eq 'Disabled' -and [bool]$user.Enabled) {
    $label = 'disable user'
    Set-GatewayStep -Label 'disable user' -Arg 'UserName'
    Disable-ADAccount -Identity $guid -Server $Server -Confirm:$false
}
if ($State -eq 'Unlocked' -and [bool]$user.LockedOut) {
    $label = 'unlock user'
    Set-GatewayStep -Label 'unlock user' -Arg 'UserName'
    Unlock-ADAccount -Identity $guid -Server $Server -Confirm:$false
}
if ($label -ne '') {
    Complete-GatewayStep -Label $label -Guid $guid -Dn $dn
    Complete-GatewayChange -Effect 'changed'
}

# Report.
$properties = (Get-GatewayUserProperty -Field $Field) + @('LockedOut')
$read = Find-GatewayAccount -Class 'user' -Identity $guid -Property $properties -Server $Server -Arg 'UserName' -Write
if ($label -ne '') {
    Add-GatewayChange -Guid $guid -Dn $dn -Before $before -After @{ enabled = [bool]$read.Enabled; lockedOut = [bool]$read.LockedOut }
}
ConvertTo-GatewayUser -User @($read) -Field $Field
