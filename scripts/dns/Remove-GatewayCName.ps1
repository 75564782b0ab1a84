# Removes exactly one CNAME record, never its siblings (facts E60).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Target,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$names = Resolve-GatewayCName -ZoneName $ZoneName -Name $Name -Target $Target -ComputerName $ComputerName -AllowedZone $AllowedZone
$record = Find-GatewayCName -Names $names -ComputerName $ComputerName

# Guard.
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName) }
Assert-GatewayName -Name ($names.owner + '.' + $names.name) -Arg 'Name' @guards
if ([string]$names.zone.ZoneType -ne 'Primary') {
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$($names.name)' is not a primary zone of this server, so its records cannot be removed."
}
$report = ConvertTo-GatewayCName -Record @($record) -ZoneName $names.name
$dn = [string]$record.DistinguishedName

# Announce.
New-GatewayIntent -Removes -Dn $dn -Record $report
Write-GatewayIntent -Effect 'removed'

# Act.
Set-GatewayStep -Label 'remove record' -Arg 'Name'
Remove-DnsServerResourceRecord -ZoneName $names.name -InputObject $record -ComputerName $ComputerName -Force -Confirm:$false
Complete-GatewayStep -Label 'remove record' -Dn $dn
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayChange -Dn $dn -Before $report -After $null
$report
