# Reads the server's statistics for a zone. It never resets them (facts NC9).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
if ([string]$zone.ZoneType -eq 'Forwarder') {
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "'$ZoneName' is a conditional forwarder, for which the server counts nothing."
}
Set-GatewayStep -Label 'read statistics' -Arg 'ZoneName'
$found = @(Get-DnsServerStatistics -ZoneName $ZoneName -ComputerName $ComputerName)[0]
$queries = [System.Collections.Generic.List[object]]::new()
foreach ($row in @($found.ZoneQueryStatistics)) {
    if ($null -eq $row) { continue }
    $queries.Add([ordered]@{ type = [string]$row.RecordType; received = [long]$row.QueriesReceived; answered = [long]$row.QueriesResponded })
}
$requested = [long]0
$sent = [long]0
foreach ($row in @($found.ZoneTransferStatistics)) {
    if ($null -eq $row) { continue }
    $requested += [long]$row.RequestReceived
    $sent += [long]$row.SuccessSent
}
$failed = $requested - $sent
if ($failed -lt 0) { $failed = [long]0 }
[ordered]@{
    zoneName  = [string]$zone.ZoneName
    since     = [string](ConvertTo-GatewayTime -Time $found.StatsCollectionStartTime)
    queries   = $queries.ToArray()
    updates   = [ordered]@{
        received = [long]$found.ZoneUpdateStatistics.DynamicUpdateReceived
        rejected = [long]$found.ZoneUpdateStatistics.DynamicUpdateRejected
    }
    transfers = [ordered]@{ received = [long]$requested; succeeded = [long]$sent; failed = [long]$failed }
}
