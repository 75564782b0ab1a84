# Returns whether a reverse lookup zone exists, with its record, to settle a write that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -Quiet
$record = $null
if ($null -ne $zone) { $record = ConvertTo-GatewayZone -Zone @($zone) }
[ordered]@{
    guid   = ''
    dn     = [string]$zone.DistinguishedName
    age    = 0
    state  = [ordered]@{ exists = [string]($null -ne $zone) }
    record = $record
}
