# Removes exactly one CNAME record, never its siblings (facts E60).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Target,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
$ZoneName = [string]$zone.ZoneName
$owner = Get-GatewayRelativeName -Name $Name -ZoneName $ZoneName
$data = Get-GatewayTargetName -Target $Target -ZoneName $ZoneName
Set-GatewayStep -Label 'find record' -Arg 'Name'
$record = Find-GatewayCName -ZoneName $ZoneName -Name $owner -Target $data -ComputerName $ComputerName
if ($null -eq $record) {
    Stop-Gateway -Code 'not_found' -Arg 'Name' -Message "There is no CNAME '$Name' with the target '$Target' in the zone '$ZoneName'."
}

# Guard.
if ([string]$zone.ZoneType -ne 'Primary') {
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$ZoneName' is not a primary zone of this server, so its records cannot be removed."
}
$report = ConvertTo-GatewayCName -Record @($record) -ZoneName $ZoneName
$dn = [string]$record.DistinguishedName

# Act.
Set-GatewayStep -Label 'remove record' -Arg 'Name'
Remove-DnsServerResourceRecord -ZoneName $ZoneName -InputObject $record -ComputerName $ComputerName -Force -Confirm:$false
Complete-GatewayStep -Label 'remove record' -Dn $dn
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayChange -Dn $dn -Before $report -After $null
$report
