# Adds a name server to those of a zone, which is an NS record of the zone itself.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $NameServer,
    [int] $TimeToLive = -1,
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
if (@(Select-GatewayRecord -Record $present -Type 'NS' -Data @($target)).Length -gt 0) {
    Stop-Gateway -Code 'conflict' -Arg 'NameServer' -Message "'$target' is a name server of the zone '$name' already."
}
$fqdn = $name.ToLowerInvariant()
$key = Get-GatewayRecordKey -Fqdn $fqdn -Type 'NS' -Data @($target)

# Announce.
New-GatewayIntent -Dn $fqdn -Name ($name + ' ' + $key) -Parent $name
Add-GatewayIntent -Name $key -Before 'False' -After 'True'
Write-GatewayIntent -Effect 'created'

# Act.
Set-GatewayStep -Label 'add name server' -Arg 'NameServer'
$created = @(Add-GatewayNameServer -ZoneName $name -NameServer $target -TimeToLive $TimeToLive -ComputerName $ComputerName)[0]
$remove = {
    param($ZoneName, $Record, $ComputerName)
    Remove-GatewayRecordObject -ZoneName $ZoneName -Record $Record -ComputerName $ComputerName
}
$arguments = @{ ZoneName = $name; Record = $created; ComputerName = $ComputerName }
Complete-GatewayStep -Label 'add name server' -Dn $fqdn -Undo $remove -Arguments $arguments
Assert-GatewayWritten -Record $created -Owner '@' -ZoneName $name -Arg 'NameServer'
Complete-GatewayChange -Effect 'created'

# Report.
$now = @(Get-GatewayNameServer -ZoneName $name -ComputerName $ComputerName)
$report = @(ConvertTo-GatewayRecord -Record @(Select-GatewayRecord -Record $now -Type 'NS' -Data @($target)) -ZoneName $name)[0]
Add-GatewayCreated -Image @{ records = @($report) }
Add-GatewayChange -Dn $fqdn -Before $null -After $report
$report
