# Lists the CNAME records of one zone, or of all zones that the server holds itself; with Name or
# Target only those with exactly that owner name or target.
[CmdletBinding()]
param(
    [AllowNull()] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [string] $Target,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zones = [System.Collections.Generic.List[object]]::new()
if ($ZoneName) {
    $zones.Add((Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone))
} else {
    Set-GatewayStep -Label 'list zones'
    foreach ($zone in @(Get-DnsServerZone -ComputerName $ComputerName)) {
        if ([bool]$zone.IsAutoCreated -or [string]$zone.ZoneName -eq 'TrustAnchors') { continue }
        if (@('Forwarder', 'Stub') -contains [string]$zone.ZoneType) { continue }
        if (Test-GatewayAllowedZone -ZoneName ([string]$zone.ZoneName) -AllowedZone $AllowedZone) { $zones.Add($zone) }
    }
}

# The order of the whole list is name, zone, data, so all zones are read before the first record is written.
$zero = [string][char]0
$found = [System.Collections.Generic.List[object]]::new()
$keys = [System.Collections.Generic.List[string]]::new()
foreach ($zone in $zones) {
    $zoneText = [string]$zone.ZoneName
    Set-GatewayStep -Label 'list records' -Arg 'ZoneName'
    try {
        if ($Name) {
            $records = @(Get-GatewayNamedCName -ZoneName $zoneText -Name $Name -ComputerName $ComputerName)
        } else {
            $records = @(Get-DnsServerResourceRecord -ZoneName $zoneText -RRType 'CName' -ComputerName $ComputerName)
        }
        $alias = ''
        if ($Target) { $alias = Get-GatewayTargetName -Target $Target -ZoneName $zoneText }
        foreach ($record in @(ConvertTo-GatewayCName -Record $records -ZoneName $zoneText)) {
            if ($Target -and -not $record['data'].Equals($alias, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
            $found.Add($record)
            $keys.Add($record['name'].ToUpperInvariant() + $zero + $zoneText.ToUpperInvariant() + $zero + $record['data'].ToUpperInvariant())
        }
    } catch {
        if ($ZoneName) { throw }
        $code = Get-GatewayErrorCode -Record $_
        $message = "The records of this zone could not be read (error $code); they are missing from the list."
        Add-GatewayWarning -Code 'zone_unreadable' -Target $zoneText -Message $message
    }
}
$sorted = $found.ToArray()
$order = $keys.ToArray()
[System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
$sorted
