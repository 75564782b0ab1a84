# Removes a name server from a zone, unless it is the last one.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $NameServer,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
Assert-GatewayPrivileged -Target $ZoneName -Guard 'nameServer' -Privileged $Privileged -Arg 'ZoneName'
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
Assert-GatewayRecordZone -Zone $zone
$name = [string]$zone.ZoneName
$target = Get-GatewayTargetName -Target $NameServer -ZoneName $name
$present = @(Get-GatewayNameServer -ZoneName $name -ComputerName $ComputerName)
$record = @(Select-GatewayRecord -Record $present -Type 'NS' -Data @($target))[0]
if ($null -eq $record) {
    Stop-Gateway -Code 'not_found' -Arg 'NameServer' -Message "'$target' is no name server of the zone '$name'."
}
if ($present.Length -eq 1) {
    $message = "'$target' is the last name server of the zone '$name'. Add another one first, with POST /api/DnsNameServer."
    Stop-Gateway -Code 'protected' -Arg 'NameServer' -Message $message
}
$fqdn = $name.ToLowerInvariant()
$key = Get-GatewayRecordKey -Fqdn $fqdn -Type 'NS' -Data @($target)
$report = @(ConvertTo-GatewayRecord -Record @($record) -ZoneName $name)[0]

# Announce.
New-GatewayIntent -Dn $fqdn -Name ($name + ' ' + $key) -Parent $name -Record $report -Image @{ records = @($report) }
Add-GatewayIntent -Name $key -Before 'True' -After 'False'
Write-GatewayIntent -Effect 'removed'

# Act.
Remove-GatewayRecordValue -ZoneName $name -Record $record -ComputerName $ComputerName
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayChange -Dn $fqdn -Before $report -After $null
$report
