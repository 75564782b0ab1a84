# Sets the time when a user's account expires. AccountExpires is the time for people, or '' for never.
# AccountExpiresTicks is the file time to store. It is written directly, because the parameters of the module take
# local times.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [Parameter(Mandatory)] [AllowEmptyString()] [string] $AccountExpires,
    [Parameter(Mandatory)] [string] $AccountExpiresTicks,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$guards = $GatewayGuardProperties + @('accountExpires')
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $guards -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
$guid = [string]$user.ObjectGUID
$dn = [string]$user.DistinguishedName
$old = [string](Get-GatewayFileTime -Value $user.accountExpires)

# Guard.
Assert-GatewayPrivilege -Object $user -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'UserName'

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $user
Add-GatewayIntent -Name 'accountExpires' -Before $old -After $AccountExpires
Write-GatewayIntent -Effect 'changed'

# Act. Both 0 and the largest number mean never (facts E9).
$changed = -not $old.Equals($AccountExpires, [System.StringComparison]::Ordinal)
if ($changed) {
    Set-GatewayStep -Label 'set expiry' -Arg 'AccountExpires'
    Set-ADUser -Identity $guid -Replace @{ accountExpires = [long]$AccountExpiresTicks } -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'set expiry' -Guid $guid -Dn $dn
    Complete-GatewayChange -Effect 'changed'
    Add-GatewayChange -Guid $guid -Dn $dn -Before @{ accountExpires = $old } -After @{ accountExpires = $AccountExpires }
}

# Report.
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$read = Find-GatewayAccount -Class 'user' -Identity $guid -Property $shown.properties -Arg 'UserName' -Write @limits
ConvertTo-GatewayUser -User @($read) -Field $shown -AllowedOU $AllowedOU -Server $Server
