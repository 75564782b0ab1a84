# Changes the dynamic updates or the replication scope of a primary zone, which stays in the directory or in its
# file (facts NC1).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [AllowNull()] [string] $ReplicationScope,
    [AllowNull()] [string] $DirectoryPartition,
    [AllowNull()] [string] $DynamicUpdate,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
Assert-GatewayPrivileged -Target $ZoneName -Guard 'update' -Privileged $Privileged -Arg 'ZoneName'
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
Assert-GatewayPrimaryZone -Zone $zone
$dn = Get-GatewayZoneDn -Zone $zone
$oldScope = [string](Get-GatewayZoneScope -Zone $zone)
$oldUpdate = [string]$zone.DynamicUpdate
$newScope = [string]$(if ($ReplicationScope) { $ReplicationScope } else { $oldScope })
$newUpdate = [string]$(if ($DynamicUpdate) { $DynamicUpdate } else { $oldUpdate })
$oldPartition = [string](Get-GatewayCustomPartition -Zone $zone)
$newPartition = [string]$(if ($ReplicationScope) { $DirectoryPartition } else { $oldPartition })
$moves = -not ($newScope.Equals($oldScope, [System.StringComparison]::Ordinal) -and
    $newPartition.Equals($oldPartition, [System.StringComparison]::OrdinalIgnoreCase))
if ($moves -and ($newScope -eq 'File' -or @('Domain', 'Forest', 'Legacy', 'Custom') -notcontains $oldScope)) {
    $message = "A zone with the replication scope $oldScope cannot be changed to $newScope. Create it again."
    Stop-Gateway -Code 'unprocessable' -Arg 'ReplicationScope' -Message $message
}
if ($newScope -eq 'File' -and $newUpdate -eq 'Secure') {
    Stop-Gateway -Code 'unprocessable' -Arg 'DynamicUpdate' -Message 'Secure updates need a zone in the directory.'
}
if ($moves) { Assert-GatewayPartition -Partition $newPartition -ComputerName $ComputerName }
$before = ConvertTo-GatewayZone -Zone @($zone) -Form 'Zone'

# Announce.
New-GatewayIntent -Dn $dn
Add-GatewayIntent -Name 'dynamicUpdate' -Before $oldUpdate -After $newUpdate
Add-GatewayIntent -Name 'replicationScope' -Before $oldScope -After $newScope
Add-GatewayIntent -Name 'directoryPartition' -Before $oldPartition -After $newPartition
Write-GatewayIntent -Effect 'changed'

# Act.
$changed = $false
if (-not $newUpdate.Equals($oldUpdate, [System.StringComparison]::Ordinal)) {
    Set-GatewayStep -Label 'set dynamic updates' -Arg 'DynamicUpdate'
    Set-DnsServerPrimaryZone -Name $ZoneName -DynamicUpdate $newUpdate -ComputerName $ComputerName -Confirm:$false
    $back = { param($Name, $Update, $ComputerName) Set-DnsServerPrimaryZone -Name $Name -DynamicUpdate $Update -ComputerName $ComputerName -Confirm:$false }
    Complete-GatewayStep -Label 'set dynamic updates' -Dn $dn -Undo $back -Arguments @{ Name = $ZoneName; Update = $oldUpdate; ComputerName = $ComputerName }
    $changed = $true
}
if ($moves) {
    Set-GatewayStep -Label 'set replication scope' -Arg 'ReplicationScope'
    $move = @{ Name = $ZoneName; ReplicationScope = $newScope; ComputerName = $ComputerName; Confirm = $false }
    if ($newPartition) { $move['DirectoryPartitionName'] = $newPartition }
    Set-DnsServerPrimaryZone @move
    $back = {
        param($Name, $Scope, $Partition, $ComputerName)
        $move = @{ Name = $Name; ReplicationScope = $Scope; ComputerName = $ComputerName; Confirm = $false }
        if ($Partition) { $move['DirectoryPartitionName'] = $Partition }
        Set-DnsServerPrimaryZone @move
    }
    $old = @{ Name = $ZoneName; Scope = $oldScope; Partition = $oldPartition; ComputerName = $ComputerName }
    Complete-GatewayStep -Label 'set replication scope' -Dn $dn -Undo $back -Arguments $old
    $changed = $true
}
if ($changed) { Complete-GatewayChange -Effect 'changed' }

# Report.
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
$report = ConvertTo-GatewayZone -Zone @($zone) -Form 'Zone'
if ($changed) { Add-GatewayChange -Dn ([string]$zone.DistinguishedName) -Before $before -After $report }
$report['serial'] = [string](Get-GatewayZoneSerial -Zone $zone -ComputerName $ComputerName)
$report
