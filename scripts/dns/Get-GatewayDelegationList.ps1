# Lists the delegations of a zone, one for each name server.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
if (@('Primary', 'Secondary') -notcontains [string]$zone.ZoneType) {
    $kind = Get-GatewayZoneKind -Zone $zone
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$ZoneName' is $kind, which has no delegations."
}
$found = @(Get-GatewayDelegation -ZoneName ([string]$zone.ZoneName) -ComputerName $ComputerName)
ConvertTo-GatewayDelegation -Delegation $found
