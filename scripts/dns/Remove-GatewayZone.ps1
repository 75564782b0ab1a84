# Removes a zone with all its records. The cmdlet accepts zones of every type, so the form determines what may be
# removed (facts NC4): 'Zone' for a primary forward zone, 'Reverse' for a reverse zone, 'Forwarder' for a
# conditional forwarder.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Form,
    [bool] $Force = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [int] $ImpactLimit,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
$controllers = @($KnownController) + @($ComputerName)
if ($Form -eq 'Forwarder') {
    Assert-GatewayPrivileged -Target $ZoneName -Guard 'forwarder' -Privileged $Privileged -Arg 'ZoneName'
} else {
    Assert-GatewayZoneName -ZoneName $ZoneName -Zone @() -KnownController $controllers
}
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
$type = [string]$zone.ZoneType
$kind = Get-GatewayZoneKind -Zone $zone
if (Test-GatewaySystemZone -Zone $zone) {
    Stop-Gateway -Code 'protected' -Arg 'ZoneName' -Message "The zone '$ZoneName' belongs to the DNS server itself."
}
if ($Form -eq 'Zone') { Assert-GatewayZoneName -ZoneName $ZoneName -Zone @(Get-GatewayServerZone -ComputerName $ComputerName) }
if ($Form -eq 'Reverse' -and -not [bool]$zone.IsReverseLookupZone) {
    Stop-Gateway -Code 'invalid_request' -Arg 'ZoneName' -Message "The zone '$ZoneName' is a forward lookup zone."
}
if ($Form -eq 'Forwarder' -and $type -ne 'Forwarder') {
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "'$ZoneName' is not a conditional forwarder but $kind."
}
if ($Form -ne 'Forwarder' -and $type -eq 'Forwarder') {
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "'$ZoneName' is a conditional forwarder, which DELETE /api/DnsConditionalForwarder removes."
}
if ($Form -eq 'Zone' -and $type -ne 'Primary') {
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$ZoneName' is not a primary zone of this server but $kind."
}
$records = @()
if ($Form -ne 'Forwarder') {
    $guards = @{ Privileged = $Privileged; KnownController = $controllers; GuardedName = $GuardedName }
    $records = @(Read-GatewayZone -ZoneName $ZoneName -Force $Force -ComputerName $ComputerName @guards)
}
$count = $records.Length
if ($count -ge $ImpactLimit) {
    Stop-Gateway -Code 'too_many' -Arg 'ZoneName' -Message "Removing the zone '$ZoneName' would remove it with $count records."
}
$report = ConvertTo-GatewayZone -Zone @($zone) -Form $Form
$dn = Get-GatewayZoneDn -Zone $zone
$image = Get-GatewayZoneImage -Zone $zone -Record $records -ComputerName $ComputerName

# Announce.
$script:GatewayCounts['records'] = [int]$count
New-GatewayIntent -Removes -Dn $dn -Parent ([string]$zone.ZoneName) -Record $report -Image $image
Write-GatewayIntent -Effect 'removed'

# Act.
Set-GatewayStep -Label 'remove zone' -Arg 'ZoneName'
Remove-DnsServerZone -Name $ZoneName -ComputerName $ComputerName -Force -Confirm:$false
Complete-GatewayStep -Label 'remove zone' -Dn $dn
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayChange -Dn $dn -Before $report -After $null
$report
