# Tells whether the account of the session may manage a DNS server: without that right not even the
# list of its zones is answered.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $ComputerName)

Set-GatewayStep -Label 'list zones'
[ordered]@{ zones = [int]@(Get-DnsServerZone -ComputerName $ComputerName).Length }
