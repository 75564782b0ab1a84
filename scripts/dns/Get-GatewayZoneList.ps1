# Lists the zones of the server in a form. The forms 'Reverse' and 'Forwarder' list only zones of that kind. Lookup
# and ZoneType restrict the list.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Form,
    [AllowNull()] [string] $Lookup,
    [AllowNull()] [string] $ZoneType,
    [bool] $IgnoreSystemZones = $true,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

if ($Form -eq 'Reverse') { $Lookup = 'Reverse' }
if ($Form -eq 'Forwarder') { $ZoneType = 'Forwarder' }
Set-GatewayStep -Label 'list zones'
$found = [System.Collections.Generic.List[object]]::new()
$keys = [System.Collections.Generic.List[string]]::new()
foreach ($zone in @(Get-DnsServerZone -ComputerName $ComputerName)) {
    $name = [string]$zone.ZoneName
    if ($Lookup -eq 'Reverse' -and -not [bool]$zone.IsReverseLookupZone) { continue }
    if ($Lookup -eq 'Forward' -and [bool]$zone.IsReverseLookupZone) { continue }
    if ($ZoneType -and -not [string]::Equals($ZoneType, [string]$zone.ZoneType, [System.StringComparison]::Ordinal)) { continue }
    if ($IgnoreSystemZones -and (Test-GatewaySystemZone -Zone $zone)) { continue }
    if (-not (Test-GatewayAllowedZone -ZoneName $name -AllowedZone $AllowedZone)) { continue }
    $found.Add($zone)
    $keys.Add($name.ToUpperInvariant())
}
$sorted = $found.ToArray()
$order = $keys.ToArray()
[System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
ConvertTo-GatewayZone -Zone $sorted -Form $Form
