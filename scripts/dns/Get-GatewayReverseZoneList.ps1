# Lists the reverse lookup zones.
[CmdletBinding()]
param(
    [bool] $IgnoreSystemZones = $true,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

Set-GatewayStep -Label 'list zones'
$found = New-Object -TypeName 'System.Collections.Generic.List[object]'
$keys = New-Object -TypeName 'System.Collections.Generic.List[string]'
foreach ($zone in @(Get-DnsServerZone -ComputerName $ComputerName)) {
    $name = [string]$zone.ZoneName
    if (-not [bool]$zone.IsReverseLookupZone) { continue }
    if ($IgnoreSystemZones -and (Test-GatewaySystemZone -Zone $zone)) { continue }
    if (-not (Test-GatewayAllowedZone -ZoneName $name -AllowedZone $AllowedZone)) { continue }
    $found.Add($zone)
    $keys.Add($name.ToUpperInvariant())
}
$sorted = $found.ToArray()
[System.Array]::Sort($keys.ToArray(), $sorted, [System.StringComparer]::Ordinal)
ConvertTo-GatewayZone -Zone $sorted
