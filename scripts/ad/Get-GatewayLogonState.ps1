# Returns the reasons why a user can or cannot log on, the most serious one first. A fact that cannot be read is
# reported as unknown.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find user' -Arg 'UserName'
$needed = @(
    'userAccountControl', 'lockoutTime', 'pwdLastSet', 'accountExpires', 'logonHours', 'userWorkstations', 'badPwdCount', 'badPasswordTime'
    'msDS-User-Account-Control-Computed', 'msDS-UserPasswordExpiryTimeComputed', 'msDS-ResultantPSO'
)
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $needed -AllowedOU $AllowedOU -Server $Server -Arg 'UserName'

Set-GatewayStep -Label 'read policy' -Arg 'UserName'
$policy = Get-GatewayPolicy -User $user -Server $Server
Add-GatewayUnreadable -Policy $policy
$now = ([datetime](Get-ADRootDSE -Server $Server).currentTime).ToUniversalTime()

$verdicts = [System.Collections.Generic.List[object]]::new()
$blocked = $false
$flags = [long]$user.userAccountControl
$computed = $user.PSObject.Properties['msDS-User-Account-Control-Computed'].Value
$expires = [string](Get-GatewayFileTime -Value $user.accountExpires)
$passwordExpires = [string](Get-GatewayFileTime -Value $user.PSObject.Properties['msDS-UserPasswordExpiryTimeComputed'].Value)
$neverExpires = ($flags -band 0x10000) -ne 0
$card = ($flags -band 0x40000) -ne 0

if (($flags -band 2) -ne 0) {
    $verdicts.Add((New-GatewayVerdict -Code 'disabled' -Text 'The account is disabled.'))
    $blocked = $true
}
$over = $false
if ($expires -ne '') {
    $ticks = [long]$user.accountExpires
    $over = [long]($now - [DateTime]::FromFileTimeUtc($ticks)).TotalSeconds -ge 0
}
if ($over) {
    $verdicts.Add((New-GatewayVerdict -Code 'expired' -Since $expires -Text 'The account has expired.'))
    $blocked = $true
}
$lockoutEnds = ''
$lockouts = @()
if ($null -eq $computed) {
    $verdicts.Add((New-GatewayVerdict -Code 'unknown' -Text 'Whether the account is locked out cannot be read.'))
} elseif (([long]$computed -band 0x10) -ne 0) {
    $since = [string](Get-GatewayFileTime -Value $user.lockoutTime)
    if ($policy['source'] -ne 'unknown' -and $policy['lockoutDuration'] -gt 0) {
        $minutes = [long]$policy['lockoutDuration']
        $locked = [long]$user.lockoutTime
        $lockoutEnds = [string](Get-GatewayFileTime -Value ($locked + $minutes * $GatewayTicksOfMinute))
    }
    $text = 'The account is locked out after wrong passwords, until it is unlocked.'
    if ($lockoutEnds -ne '') { $text = 'The account is locked out after wrong passwords.' }
    $lockouts = $null # the gateway reads them with another script
    $verdicts.Add((New-GatewayVerdict -Code 'locked' -Since $since -Until $lockoutEnds -Text $text))
    $blocked = $true
}
if ([long]$user.pwdLastSet -eq 0 -and -not $neverExpires -and -not $card) {
    $verdicts.Add((New-GatewayVerdict -Code 'must_change' -Text 'The password must be changed at the next logon, which some ways to log on cannot do.'))
} elseif ($null -ne $computed -and ([long]$computed -band 0x800000) -ne 0) {
    $verdicts.Add((New-GatewayVerdict -Code 'password_expired' -Since $passwordExpires -Text 'The password has expired.'))
}
$hours = $user.logonHours
if ($null -ne $hours -and $hours.Length -eq 21) {
    # There is a bit for each hour of the week in UTC. The week begins on Sunday.
    $ticks = [long]0 # the first day of 1601, a Monday
    $seconds = [long]($now - [DateTime]::FromFileTimeUtc($ticks)).TotalSeconds
    $bit = ([long](Get-GatewayQuotient -Number $seconds -By 3600) + 24) % 168
    $at = [int](Get-GatewayQuotient -Number $bit -By 8)
    $octet = [int]$hours[$at]
    $masks = @(1, 2, 4, 8, 16, 32, 64, 128)
    if (($octet -band $masks[[int]($bit % 8)]) -eq 0) {
        $verdicts.Add((New-GatewayVerdict -Code 'hours' -Text 'The account may not log on at this hour.'))
        $blocked = $true
    }
}
$stations = [string]$user.userWorkstations
if ($stations -ne '') {
    $verdicts.Add((New-GatewayVerdict -Code 'workstations' -Text "The account may only log on at: $stations."))
}
if ($card) { $verdicts.Add((New-GatewayVerdict -Code 'smartcard_required' -Text 'The account may only log on with a smart card.')) }
if ($verdicts.Count -eq 0) { $verdicts.Add((New-GatewayVerdict -Code 'ok' -Text 'Nothing blocks this account.')) }

[ordered]@{
    username        = [string]$user.SamAccountName
    canLogOn        = [bool](-not $blocked)
    verdicts        = $verdicts.ToArray()
    badPwdCount     = [int]$user.badPwdCount
    lastBadPassword = [string](Get-GatewayFileTime -Value $user.badPasswordTime)
    passwordExpires = [string]$passwordExpires
    accountExpires  = [string]$expires
    lockoutEnds     = [string]$lockoutEnds
    policy          = [string]$policy['name']
    source          = [string]$policy['source']
    lockouts        = $lockouts
}
