# Removes one name server from the delegation of a name, or the whole delegation (facts NC6).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $ChildName,
    [AllowNull()] [string] $NameServer,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
$child = Resolve-GatewayChild -Name $ChildName -ZoneName $ZoneName
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
Assert-GatewayName -Name ($child + '.' + $ZoneName) -Arg 'ChildName' @guards
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
Assert-GatewayPrimaryZone -Zone $zone
$name = [string]$zone.ZoneName
Assert-GatewayOneName -Name $ChildName -ZoneName $name -Arg 'ChildName' -ComputerName $ComputerName
$target = ''
if ($NameServer) { $target = Get-GatewayTargetName -Target $NameServer -ZoneName $name }
$found = @(Get-GatewayDelegation -ZoneName $name -ChildName $child -NameServer $target -ComputerName $ComputerName)
if ($found.Length -eq 0) {
    $message = "The name '$child' is not delegated in the zone '$name'."
    if ($target -ne '') { $message = "The name '$child' is not delegated to '$target' in the zone '$name'." }
    Stop-Gateway -Code 'not_found' -Arg 'ChildName' -Message $message
}
$report = @(ConvertTo-GatewayDelegation -Delegation $found)
$full = $child + '.' + $name

$other = @(Get-GatewayOtherDelegation -ZoneName $name -ChildName $child -ComputerName $ComputerName)

# Announce.
foreach ($record in $report) {
    $dn = $full + ' NS ' + $record['nameServer']
    New-GatewayIntent -Removes -Dn $dn -Name $record['nameServer'] -Record $record -Image (Get-GatewayDelegationImage -Record $record)
}
Write-GatewayIntent -Effect 'removed'

# Act.
Set-GatewayStep -Label 'remove delegation' -Arg 'ChildName'
$remove = @{ Name = $name; ChildZoneName = (Get-GatewayClearName -Owner $child -ZoneName $name); ComputerName = $ComputerName; Force = $true; Confirm = $false }
if ($target -ne '') { $remove['NameServer'] = $target }
Remove-DnsServerZoneDelegation @remove
Assert-GatewayDelegationKept -ZoneName $name -ChildName $child -Delegation $other -ComputerName $ComputerName
Complete-GatewayStep -Label 'remove delegation' -Dn $full
Complete-GatewayChange -Effect 'removed'

# Report.
foreach ($record in $report) { Add-GatewayChange -Dn ($full + ' NS ' + $record['nameServer']) -Before $record -After $null }
$report
