# Lists the reverse lookup zones.
[CmdletBinding()]
param(
    [bool] $IgnoreSystemZones = $true,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

Set-GatewayStep -Label 'list zones'
$found = [System.Collections.Generic.List[object]]::new()
$keys = [System.Collections.Generic.List[string]]::new()
foreach ($zone in @(Get-DnsServerZone -ComputerName $ComputerName)) {
    $name = [string]$zone.ZoneName
    if (-not [bool]$zone.IsReverseLookupZone) { continue }
    if ($IgnoreSystemZones -and (Test-GatewaySystemZone -Zone $zone)) { continue }
    if (-not (Test-GatewayAllowedZone -ZoneName $name -AllowedZone $AllowedZone)) { continue }
    $found.Add($zone)
    $keys.Add($name.ToUpperInvariant())
}
$sorted = $found.ToArray()
$order = $keys.ToArray()
[System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
ConvertTo-GatewayZone -Zone $sorted
