# Reads the aging of a primary zone, and how often the server scavenges (facts NC7).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
if ([string]$zone.ZoneType -ne 'Primary') {
    $kind = Get-GatewayZoneKind -Zone $zone
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$ZoneName' is $kind, which does not age records."
}
$server = Get-GatewayScavenging -ComputerName $ComputerName
Set-GatewayStep -Label 'read aging' -Arg 'ZoneName'
$aging = @(Get-DnsServerZoneAging -Name $ZoneName -ComputerName $ComputerName)[0]
ConvertTo-GatewayZoneAging -Aging $aging -Server $server
