# Tests which zone is created for a network with host bits, and removes it again. The network is one of those
# reserved for documentation; the caller has checked that it has no zone yet.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $NetworkId,
    [Parameter(Mandatory)] [string] $ReverseZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

Test-GatewayFact -Fact 'network with host bits' -Action {
    $create = @{ NetworkId = $NetworkId; ZoneFile = $ReverseZone + '.dns'; DynamicUpdate = 'None'; PassThru = $true; Confirm = $false }
    $zone = @(Add-DnsServerPrimaryZone @create -ComputerName $ComputerName)[0]
    Remove-DnsServerZone -Name ([string]$zone.ZoneName) -ComputerName $ComputerName -Force -Confirm:$false
    [string]$zone.ZoneName
}
