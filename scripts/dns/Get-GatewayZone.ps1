# Reads one zone of any type or, in the form 'Reverse' or 'Forwarder', one zone of that kind.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Form,
    [bool] $IgnoreSystemZones = $true,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
if ($IgnoreSystemZones -and (Test-GatewaySystemZone -Zone $zone)) {
    $message = "The zone '$ZoneName' is a system zone."
    if ($Form -eq 'Zone' -or [bool]$zone.IsReverseLookupZone) { $message += ' Ask with IgnoreSystemZones=false to see it.' }
    Stop-Gateway -Code 'not_found' -Arg 'ZoneName' -Message $message
}
if ($Form -eq 'Reverse' -and -not [bool]$zone.IsReverseLookupZone) {
    Stop-Gateway -Code 'invalid_request' -Arg 'ZoneName' -Message "The zone '$ZoneName' is a forward lookup zone."
}
if ($Form -eq 'Forwarder' -and [string]$zone.ZoneType -ne 'Forwarder') {
    $kind = Get-GatewayZoneKind -Zone $zone
    Stop-Gateway -Code 'not_found' -Arg 'ZoneName' -Message "There is no conditional forwarder for '$ZoneName', which is $kind of this server."
}
$report = ConvertTo-GatewayZone -Zone @($zone) -Form $Form
if ($Form -ne 'Forwarder') { $report['serial'] = [string](Get-GatewayZoneSerial -Zone $zone -ComputerName $ComputerName) }
$report
