# Delegates a name of a zone to a name server, or adds a name server to its delegation (facts NC6).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $ChildName,
    [Parameter(Mandatory)] [string] $NameServer,
    [Parameter(Mandatory)] [string[]] $Address,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
$child = Resolve-GatewayChild -Name $ChildName -ZoneName $ZoneName
if (Test-GatewayNested -Owner $child -ZoneName $ZoneName) {
    Stop-Gateway -Code 'unprocessable' -Arg 'ChildName' -Message "The name '$ChildName' has the name of the zone twice at its end."
}
Assert-GatewayName -Name ($child + '.' + $ZoneName) -Arg 'ChildName' @guards
$zones = @(Get-GatewayServerZone -ComputerName $ComputerName)
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
Assert-GatewayPrimaryZone -Zone $zone
$name = [string]$zone.ZoneName
Assert-GatewayOneName -Name $ChildName -ZoneName $name -Arg 'ChildName' -ComputerName $ComputerName
$full = $child + '.' + $name
$deeper = Select-GatewayParentZone -Name $full -Zone $zones
if (-not $name.Equals([string]$deeper.ZoneName, [System.StringComparison]::OrdinalIgnoreCase)) {
    $message = "The name '$full' lies in a deeper zone of this server, so that the zone '$name' cannot delegate it."
    Stop-Gateway -Code 'conflict' -Arg 'ChildName' -Message $message
}
$target = Get-GatewayTargetName -Target $NameServer -ZoneName $name

# The name may have its own name servers and their addresses, but no other records (facts NB2).
Set-GatewayStep -Label 'check name' -Arg 'ChildName'
$records = @(Get-GatewayBranch -ZoneName $name -Name $child -ComputerName $ComputerName)
$present = Measure-GatewayBranch -Record $records -Name $child -ZoneName $name -NameServer $target
foreach ($server in $present.servers) {
    if ($server.Equals($target, [System.StringComparison]::OrdinalIgnoreCase)) {
        Stop-Gateway -Code 'conflict' -Arg 'NameServer' -Message "The name '$full' is delegated to '$target' already."
    }
}
if ($present.others -gt 0) {
    $some = Get-GatewayCount -Count $present.others -Noun 'other record'
    $message = "The name '$full' and those below it have $some that a delegation would hide. Move them first."
    Stop-Gateway -Code 'not_empty' -Arg 'ChildName' -Message $message
}
Assert-GatewayNameServer -Target $target -Address $Address -ZoneName $name @guards -ComputerName $ComputerName

# Announce.
$dn = $full + ' NS ' + $target
New-GatewayIntent -Creates -Dn $dn -Name $target -Also @{ nameServer = $target }
Write-GatewayIntent -Effect 'created'

# Act.
Set-GatewayStep -Label 'create delegation' -Arg 'ChildName'
$create = @{ Name = $name; ChildZoneName = $child; NameServer = $target; IPAddress = $Address; ComputerName = $ComputerName; Confirm = $false }
Add-DnsServerZoneDelegation @create
$remove = {
    param($Name, $Child, $NameServer, $ComputerName)
    Remove-DnsServerZoneDelegation -Name $Name -ChildZoneName $Child -NameServer $NameServer -ComputerName $ComputerName -Force -Confirm:$false
}
$arguments = @{ Name = $name; Child = $child; NameServer = $target; ComputerName = $ComputerName }
Complete-GatewayStep -Label 'create delegation' -Dn $dn -Undo $remove -Arguments $arguments
Complete-GatewayChange -Effect 'created'

# Report.
$found = @(Get-GatewayDelegation -ZoneName $name -ChildName $child -NameServer $target -ComputerName $ComputerName)
$report = ConvertTo-GatewayDelegation -Delegation $found
if ($found.Length -gt 0 -and $report['ipAddresses'].Length -eq 0) {
    Add-GatewayWarning -Code 'no_addresses' -Target $target -Message "The name server lies outside the zone '$name', which does not keep its addresses."
}
Add-GatewayChange -Dn $dn -Before $null -After $report
Add-GatewayCreated -Image (Get-GatewayDelegationImage -Record $report)
$report
