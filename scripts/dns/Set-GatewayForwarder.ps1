# Changes a conditional forwarder. A forwarder in the directory cannot be moved to this server, or the reverse
# (facts NC2).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $MasterServers,
    [int] $ForwarderTimeout,
    [bool] $UseRecursion,
    [AllowNull()] [string] $ReplicationScope,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
Assert-GatewayPrivileged -Target $ZoneName -Guard 'forwarder' -Privileged $Privileged -Arg 'ZoneName'
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
if ([string]$zone.ZoneType -ne 'Forwarder') {
    $kind = Get-GatewayZoneKind -Zone $zone
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "'$ZoneName' is not a conditional forwarder but $kind."
}
$dn = Get-GatewayZoneDn -Zone $zone
$before = ConvertTo-GatewayZone -Zone @($zone) -Form 'Forwarder'
$old = @{
    Masters = [string[]]$before['masterServers']; Timeout = [int]$before['forwarderTimeout']; Recursion = [bool]$before['useRecursion']
}
$masters = $old.Masters
if ($null -ne $MasterServers -and $MasterServers.Length -gt 0) { $masters = $MasterServers }
$timeout = $old.Timeout
if ($PSBoundParameters.ContainsKey('ForwarderTimeout')) { $timeout = $ForwarderTimeout }
$recursion = $old.Recursion
if ($PSBoundParameters.ContainsKey('UseRecursion')) { $recursion = $UseRecursion }
$oldScope = [string]$before['replicationScope']
$newScope = [string]$(if ($ReplicationScope) { $ReplicationScope } else { $oldScope })
$moves = -not $newScope.Equals($oldScope, [System.StringComparison]::Ordinal)
if ($moves -and ($newScope -eq 'Server' -or @('Domain', 'Forest', 'Legacy') -notcontains $oldScope)) {
    $message = "A forwarder with the replication scope $oldScope cannot be changed to $newScope. Create it again."
    Stop-Gateway -Code 'unprocessable' -Arg 'ReplicationScope' -Message $message
}
$settings = [int]$old.Timeout -ne $timeout -or [bool]$old.Recursion -ne $recursion
if (-not [string]::Equals(($masters -join ','), ($old.Masters -join ','), [System.StringComparison]::Ordinal)) { $settings = $true }

# Announce.
New-GatewayIntent -Dn $dn
Add-GatewayIntent -Name 'masterServers' -Before ($old.Masters -join ',') -After ($masters -join ',')
Add-GatewayIntent -Name 'forwarderTimeout' -Before ([string]$old.Timeout) -After ([string]$timeout)
Add-GatewayIntent -Name 'useRecursion' -Before ([string]$old.Recursion) -After ([string]$recursion)
Add-GatewayIntent -Name 'replicationScope' -Before $oldScope -After $newScope
Write-GatewayIntent -Effect 'changed'

# Act.
$changed = $false
if ($settings) {
    Set-GatewayStep -Label 'set forwarder' -Arg 'MasterServers'
    $set = @{ Name = $ZoneName; MasterServers = $masters; ForwarderTimeout = $timeout; UseRecursion = $recursion }
    Set-DnsServerConditionalForwarderZone @set -ComputerName $ComputerName -Confirm:$false
    $back = {
        param($Name, $MasterServers, $ForwarderTimeout, $UseRecursion, $ComputerName)
        $set = @{ Name = $Name; MasterServers = $MasterServers; ForwarderTimeout = $ForwarderTimeout; UseRecursion = $UseRecursion }
        Set-DnsServerConditionalForwarderZone @set -ComputerName $ComputerName -Confirm:$false
    }
    $arguments = @{
        Name = $ZoneName; MasterServers = $old.Masters; ForwarderTimeout = $old.Timeout; UseRecursion = $old.Recursion; ComputerName = $ComputerName
    }
    Complete-GatewayStep -Label 'set forwarder' -Dn $dn -Undo $back -Arguments $arguments
    $changed = $true
}
if ($moves) {
    Set-GatewayStep -Label 'set replication scope' -Arg 'ReplicationScope'
    Set-DnsServerConditionalForwarderZone -Name $ZoneName -ReplicationScope $newScope -ComputerName $ComputerName -Confirm:$false
    $back = {
        param($Name, $Scope, $ComputerName)
        Set-DnsServerConditionalForwarderZone -Name $Name -ReplicationScope $Scope -ComputerName $ComputerName -Confirm:$false
    }
    Complete-GatewayStep -Label 'set replication scope' -Dn $dn -Undo $back -Arguments @{ Name = $ZoneName; Scope = $oldScope; ComputerName = $ComputerName }
    $changed = $true
}
if ($changed) { Complete-GatewayChange -Effect 'changed' }

# Report.
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
$report = ConvertTo-GatewayZone -Zone @($zone) -Form 'Forwarder'
if ($changed) { Add-GatewayChange -Dn ([string]$zone.DistinguishedName) -Before $before -After $report }
$report
