# Returns whether a zone exists, and its settings, with its record in a form, to settle a write that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Form,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -Quiet
$record = $null
$state = [ordered]@{ exists = [string]($null -ne $zone) }
if ($null -ne $zone) {
    $record = ConvertTo-GatewayZone -Zone @($zone) -Form $Form
    $forwarder = ConvertTo-GatewayZone -Zone @($zone) -Form 'Forwarder'
    $state['dynamicUpdate'] = [string]$zone.DynamicUpdate
    $state['replicationScope'] = [string](Get-GatewayZoneScope -Zone $zone)
    if ($Form -eq 'Forwarder') { $state['replicationScope'] = [string]$forwarder['replicationScope'] }
    $state['directoryPartition'] = [string](Get-GatewayCustomPartition -Zone $zone)
    $state['masterServers'] = [string]($forwarder['masterServers'] -join ',')
    $state['forwarderTimeout'] = [string]$forwarder['forwarderTimeout']
    $state['useRecursion'] = [string]$forwarder['useRecursion']
}
[ordered]@{
    guid   = ''
    dn     = [string]$zone.DistinguishedName
    age    = 0
    state  = $state
    record = $record
}
