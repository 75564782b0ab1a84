# Creates a primary zone. By default, it is in the directory with secure updates if the DNS server is a domain
# controller, and otherwise in a file without updates (facts E67-E71).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Form,
    [AllowNull()] [string] $ReplicationScope,
    [AllowNull()] [string] $DirectoryPartition,
    [AllowNull()] [string] $DynamicUpdate,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
$controllers = @($KnownController) + @($ComputerName)
Assert-GatewayZoneName -ZoneName $ZoneName -Zone @() -KnownController $controllers
Assert-GatewayName -Name $ZoneName -KnownController $controllers -GuardedName $GuardedName -Privileged $Privileged -Arg 'ZoneName'
# Ask the server whether it stores zones in the directory, because the error of a failed attempt would not tell
# (facts E68).
Set-GatewayStep -Label 'read server settings'
$inDirectory = [bool](Get-DnsServerSetting -All -ComputerName $ComputerName).DsAvailable
if (-not $ReplicationScope) { $ReplicationScope = [string]$(if ($inDirectory) { 'Domain' } else { 'File' }) }
$default = [string]$(if ($ReplicationScope -eq 'File') { 'None' } else { 'Secure' })
if (-not $DynamicUpdate) { $DynamicUpdate = $default }
if ($ReplicationScope -ne 'File' -and -not $inDirectory) {
    Stop-Gateway -Code 'unprocessable' -Arg 'ReplicationScope' -Message 'The DNS server is not a domain controller, so that its zones can only be in files.'
}
if ($ReplicationScope -eq 'File' -and $DynamicUpdate -eq 'Secure') {
    Stop-Gateway -Code 'unprocessable' -Arg 'DynamicUpdate' -Message 'Secure updates need a zone in the directory.'
}
if (-not $DynamicUpdate.Equals($default, [System.StringComparison]::Ordinal)) {
    Assert-GatewayPrivileged -Target $ZoneName -Guard 'update' -Privileged $Privileged -Arg 'DynamicUpdate'
}
Assert-GatewayPartition -Partition $DirectoryPartition -ComputerName $ComputerName
$zones = @(Get-GatewayServerZone -ComputerName $ComputerName)
Assert-GatewayZoneFree -ZoneName $ZoneName -Zone $zones
Assert-GatewayZoneName -ZoneName $ZoneName -Zone $zones
Assert-GatewayOwnZone -ZoneName $ZoneName -Zone $zones -KnownController $controllers -Privileged $Privileged
Assert-GatewayNothingHidden -ZoneName $ZoneName -Zone $zones -AllowedZone $AllowedZone -ComputerName $ComputerName

# Announce.
$dn = Get-GatewayNewZoneDn -ZoneName $ZoneName -Scope $ReplicationScope -Partition $DirectoryPartition -Zone $zones
$also = @{ replicationScope = $ReplicationScope; dynamicUpdate = $DynamicUpdate }
if ($DirectoryPartition) { $also['directoryPartition'] = $DirectoryPartition }
New-GatewayIntent -Creates -Dn $dn -Parent $ZoneName -Also $also
Write-GatewayIntent -Effect 'created'

# Act.
Set-GatewayStep -Label 'create zone' -Arg 'ZoneName'
$create = @{ Name = $ZoneName; DynamicUpdate = $DynamicUpdate; ComputerName = $ComputerName; Confirm = $false }
if ($ReplicationScope -eq 'File') {
    $create['ZoneFile'] = $ZoneName.Replace('/', '-') + '.dns'
} else {
    $create['ReplicationScope'] = $ReplicationScope
    if ($DirectoryPartition) { $create['DirectoryPartitionName'] = $DirectoryPartition }
}
Add-DnsServerPrimaryZone @create
$remove = { param($Name, $ComputerName) Remove-DnsServerZone -Name $Name -ComputerName $ComputerName -Force -Confirm:$false }
Complete-GatewayStep -Label 'create zone' -Dn $ZoneName -Undo $remove -Arguments @{ Name = $ZoneName; ComputerName = $ComputerName }
Complete-GatewayChange -Effect 'created'

# Report.
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
$report = ConvertTo-GatewayZone -Zone @($zone) -Form $Form
Add-GatewayChange -Dn ([string]$zone.DistinguishedName) -Before $null -After $report
Add-GatewayCreated -Image (Get-GatewayZoneImage -Zone $zone -Record @() -ComputerName $ComputerName)
$report['serial'] = [string](Get-GatewayZoneSerial -Zone $zone -ComputerName $ComputerName)
$report
