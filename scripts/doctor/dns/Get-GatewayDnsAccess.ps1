# Returns whether the account of the session may manage a DNS server: without that right it cannot even
# list the zones.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $ComputerName)

Set-GatewayStep -Label 'list zones'
[ordered]@{ zones = [int]@(Get-DnsServerZone -ComputerName $ComputerName).Length }
