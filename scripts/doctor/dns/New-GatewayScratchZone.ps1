# Creates the scratch zone in a file on this server, so that nothing is replicated.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $ZoneName, [Parameter(Mandatory)] [string] $ComputerName)

Set-GatewayStep -Label 'create scratch zone' -Arg 'ZoneName'
Add-DnsServerPrimaryZone -Name $ZoneName -ZoneFile ($ZoneName + '.dns') -DynamicUpdate None -ComputerName $ComputerName -Confirm:$false
