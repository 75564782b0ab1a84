# Returns the contents of the scratch zone, and whether the network of the probes has a zone.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Prefix,
    [Parameter(Mandatory)] [string] $ReverseZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$reverse = Find-GatewayZone -ZoneName $ReverseZone -ComputerName $ComputerName -Quiet
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -Quiet
if ($null -eq $zone) {
    return [ordered]@{ exists = $false; writable = $true; mine = 0; foreign = @(); reverse = [bool]($null -ne $reverse) }
}
if ([string]$zone.ZoneType -ne 'Primary' -or [bool]$zone.IsAutoCreated) {
    return [ordered]@{ exists = $true; writable = $false; mine = 0; foreign = @(); reverse = [bool]($null -ne $reverse) }
}
Set-GatewayStep -Label 'list records' -Arg 'ZoneName'
$mine = 0
$foreign = [System.Collections.Generic.List[string]]::new()
foreach ($record in @(Get-DnsServerResourceRecord -ZoneName $ZoneName -ComputerName $ComputerName)) {
    $name = [string]$record.HostName
    $type = ([string]$record.RecordType).ToUpperInvariant()
    if ($name -eq '@' -and @('SOA', 'NS') -contains $type) { continue }
    if (Test-GatewayOwnRecord -Name $name -Prefix $Prefix) { $mine++ } else { $foreign.Add($name + ' ' + $type) }
}
[ordered]@{
    exists   = $true
    writable = $true
    mine     = [int]$mine
    foreign  = [string[]]$foreign.ToArray()
    reverse  = [bool]($null -ne $reverse)
}
