# Reads one reverse lookup zone.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [bool] $IgnoreSystemZones = $true,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
if ($IgnoreSystemZones -and (Test-GatewaySystemZone -Zone $zone)) {
    $message = "The zone '$ZoneName' is a system zone."
    if ([bool]$zone.IsReverseLookupZone) { $message += ' Ask with IgnoreSystemZones=false to see it.' }
    Stop-Gateway -Code 'not_found' -Arg 'ZoneName' -Message $message
}
if (-not [bool]$zone.IsReverseLookupZone) {
    Stop-Gateway -Code 'invalid_request' -Arg 'ZoneName' -Message "The zone '$ZoneName' is a forward lookup zone."
}
ConvertTo-GatewayZone -Zone @($zone)
