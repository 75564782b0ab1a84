# Returns the password policy that applies to a user. Ages are in days, and the window and the duration of a lockout
# in minutes. 0 means none.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find user' -Arg 'UserName'
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property @('msDS-ResultantPSO') -AllowedOU $AllowedOU -Server $Server -Arg 'UserName'
Set-GatewayStep -Label 'read policy' -Arg 'UserName'
$policy = Get-GatewayPolicy -User $user -Server $Server
Add-GatewayUnreadable -Policy $policy
$known = $policy['source'] -ne 'unknown'
$record = [ordered]@{ name = [string]$policy['name']; source = [string]$policy['source'] }
if ($known) {
    $record['minLength'] = [int]$policy['minLength']
    $record['complexity'] = [bool]$policy['complexity']
    $record['historyCount'] = [int]$policy['historyCount']
    $record['minAge'] = [int]$policy['minAge']
    $record['maxAge'] = [int]$policy['maxAge']
    $record['lockoutThreshold'] = [int]$policy['lockoutThreshold']
    $record['lockoutWindow'] = [int]$policy['lockoutWindow']
    $record['lockoutDuration'] = [int]$policy['lockoutDuration']
} else {
    foreach ($name in @('minLength', 'complexity', 'historyCount', 'minAge', 'maxAge', 'lockoutThreshold', 'lockoutWindow', 'lockoutDuration')) {
        $record[$name] = $null
    }
}
$record
