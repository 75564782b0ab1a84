# Reports whether LAPS manages the password of a computer's local administrator, and when the password expires.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$computer = Find-GatewayComputer -Identity $Identity -AllowedOU $AllowedOU -Server $Server -Arg 'Identity'
$laps = Get-GatewayLaps -Guid ([string]$computer.ObjectGUID) -Server $Server
ConvertTo-GatewayLocalAdmin -Computer $computer -Laps $laps
