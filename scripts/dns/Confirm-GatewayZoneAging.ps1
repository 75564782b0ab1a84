# Returns the aging of a zone, to settle a write that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -Quiet
$record = $null
$state = [ordered]@{ exists = [string]($null -ne $zone) }
if ($null -ne $zone) {
    $server = Get-GatewayScavenging -ComputerName $ComputerName
    Set-GatewayStep -Label 'read aging' -Arg 'ZoneName'
    $record = ConvertTo-GatewayZoneAging -Aging @(Get-DnsServerZoneAging -Name $ZoneName -ComputerName $ComputerName)[0] -Server $server
    foreach ($name in @('enabled', 'refreshHours', 'noRefreshHours')) { $state[$name] = [string]$record[$name] }
}
[ordered]@{
    guid   = ''
    dn     = [string]$zone.DistinguishedName
    age    = 0
    state  = $state
    record = $record
}
