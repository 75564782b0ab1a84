# Creates a reverse lookup zone: in the directory with secure updates if the DNS server is a
# domain controller, otherwise in a file without updates (facts E67-E71).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
$present = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone -Quiet
if ($null -ne $present) {
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$ZoneName' exists already."
}
# The server is asked whether it stores zones in the directory: a failed attempt would not tell (facts E68).
Set-GatewayStep -Label 'read server settings'
$inDirectory = [bool](Get-DnsServerSetting -All -ComputerName $ComputerName).DsAvailable

# Announce.
New-GatewayIntent -Creates -Dn $ZoneName
Write-GatewayIntent -Effect 'created'

# Act.
Set-GatewayStep -Label 'create zone' -Arg 'ZoneName'
$create = @{ Name = $ZoneName; ComputerName = $ComputerName; Confirm = $false }
if ($inDirectory) {
    $create['ReplicationScope'] = 'Domain'
    $create['DynamicUpdate'] = 'Secure'
} else {
    $create['ZoneFile'] = $ZoneName + '.dns'
    $create['DynamicUpdate'] = 'None'
}
Add-DnsServerPrimaryZone @create
$remove = { param($Name, $ComputerName) Remove-DnsServerZone -Name $Name -ComputerName $ComputerName -Force -Confirm:$false }
Complete-GatewayStep -Label 'create zone' -Dn $ZoneName -Undo $remove -Arguments @{ Name = $ZoneName; ComputerName = $ComputerName }
Complete-GatewayChange -Effect 'created'

# Report.
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
$report = ConvertTo-GatewayZone -Zone @($zone)
Add-GatewayChange -Dn ([string]$zone.DistinguishedName) -Before $null -After $report
$report
