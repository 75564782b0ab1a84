# Creates a conditional forwarder. It is stored in the directory unless it is for this server only (facts NC2).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string[]] $MasterServers,
    [Parameter(Mandatory)] [int] $ForwarderTimeout,
    [Parameter(Mandatory)] [bool] $UseRecursion,
    [Parameter(Mandatory)] [string] $ReplicationScope,
    [AllowNull()] [string] $DirectoryPartition,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
Assert-GatewayPrivileged -Target $ZoneName -Guard 'forwarder' -Privileged $Privileged -Arg 'ZoneName'
if ($ReplicationScope -ne 'Server') {
    Set-GatewayStep -Label 'read server settings'
    if (-not [bool](Get-DnsServerSetting -All -ComputerName $ComputerName).DsAvailable) {
        $message = 'The DNS server is not a domain controller, so that a forwarder can only be its own: ReplicationScope=Server.'
        Stop-Gateway -Code 'unprocessable' -Arg 'ReplicationScope' -Message $message
    }
}
Assert-GatewayPartition -Partition $DirectoryPartition -ComputerName $ComputerName
$zones = @(Get-GatewayServerZone -ComputerName $ComputerName)
Assert-GatewayZoneFree -ZoneName $ZoneName -Zone $zones
Assert-GatewayZoneName -ZoneName $ZoneName -Zone $zones -KnownController (@($KnownController) + @($ComputerName))
Assert-GatewayNothingHidden -ZoneName $ZoneName -Zone $zones -AllowedZone $AllowedZone -ComputerName $ComputerName -Forwarder

# Announce.
$also = @{
    masterServers = [string]($MasterServers -join ','); forwarderTimeout = [string]$ForwarderTimeout
    useRecursion = [string]$UseRecursion; replicationScope = $ReplicationScope
}
if ($DirectoryPartition) { $also['directoryPartition'] = $DirectoryPartition }
$dn = Get-GatewayNewZoneDn -ZoneName $ZoneName -Scope $ReplicationScope -Partition $DirectoryPartition -Zone $zones
New-GatewayIntent -Creates -Dn $dn -Parent $ZoneName -Also $also
Write-GatewayIntent -Effect 'created'

# Act.
Set-GatewayStep -Label 'create forwarder' -Arg 'MasterServers'
$create = @{
    Name = $ZoneName; MasterServers = $MasterServers; ForwarderTimeout = $ForwarderTimeout; UseRecursion = $UseRecursion
    ComputerName = $ComputerName; Confirm = $false
}
if ($ReplicationScope -ne 'Server') { $create['ReplicationScope'] = $ReplicationScope }
if ($DirectoryPartition) { $create['DirectoryPartitionName'] = $DirectoryPartition }
Add-DnsServerConditionalForwarderZone @create
$remove = { param($Name, $ComputerName) Remove-DnsServerZone -Name $Name -ComputerName $ComputerName -Force -Confirm:$false }
Complete-GatewayStep -Label 'create forwarder' -Dn $ZoneName -Undo $remove -Arguments @{ Name = $ZoneName; ComputerName = $ComputerName }
Complete-GatewayChange -Effect 'created'

# Report.
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
$report = ConvertTo-GatewayZone -Zone @($zone) -Form 'Forwarder'
Add-GatewayChange -Dn ([string]$zone.DistinguishedName) -Before $null -After $report
Add-GatewayCreated -Image (Get-GatewayZoneImage -Zone $zone -Record @() -ComputerName $ComputerName)
$report
