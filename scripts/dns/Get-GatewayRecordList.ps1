# Lists the records of one zone, or of all zones that the server holds itself; with Type only those of these types,
# with Name or Data only those with exactly that owner name or these data. With Mixed the records have the members of
# all types.
[CmdletBinding()]
param(
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Type,
    [bool] $Mixed = $false,
    [AllowNull()] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
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
$form = ''
if (-not $Mixed) { $form = $Type[0] }

# The order of the whole list is name, zone, type, data, so all zones are read before the first record is written.
$zero = [string][char]0
$found = [System.Collections.Generic.List[object]]::new()
$keys = [System.Collections.Generic.List[string]]::new()
foreach ($zone in $zones) {
    $zoneText = [string]$zone.ZoneName
    Set-GatewayStep -Label 'list records' -Arg 'ZoneName'
    try {
        if ($Name) {
            $records = @(Get-GatewayNode -ZoneName $zoneText -Owner (Get-GatewayRelativeName -Name $Name -ZoneName $zoneText) -ComputerName $ComputerName)
        } elseif (@($Type).Length -eq 1) {
            $records = @(Get-DnsServerResourceRecord -ZoneName $zoneText -RRType $Type[0] -ComputerName $ComputerName)
        } else {
            $records = @(Get-DnsServerResourceRecord -ZoneName $zoneText -ComputerName $ComputerName)
        }
        if (@($Type).Length -gt 0 -and $null -ne $Type) { $records = @(foreach ($record in $records) { if ($Type -contains [string]$record.RecordType) { $record } }) }
        if (@($Data).Length -gt 0 -and $null -ne $Data) {
            $records = @(Select-GatewayRecord -Record $records -Type $form -Data @(Get-GatewayRecordData -Type $form -Data $Data -ZoneName $zoneText))
        }
        foreach ($record in @(ConvertTo-GatewayRecord -Record $records -ZoneName $zoneText -Type $form)) {
            $found.Add($record)
            $keys.Add($record['name'].ToUpperInvariant() + $zero + $zoneText.ToUpperInvariant() + $zero + $record['type'] + $zero + $record['data'].ToUpperInvariant())
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
