# Changes the aging of a primary zone. An interval of 0 hours is the server's default (facts NC7).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [bool] $Aging,
    [int] $RefreshHours,
    [int] $NoRefreshHours,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
Assert-GatewayPrivileged -Target $ZoneName -Guard 'aging' -Privileged $Privileged -Arg 'ZoneName'
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName
Assert-GatewayPrimaryZone -Zone $zone
$dn = Get-GatewayZoneDn -Zone $zone
$server = Get-GatewayScavenging -ComputerName $ComputerName
Set-GatewayStep -Label 'read aging' -Arg 'ZoneName'
$before = ConvertTo-GatewayZoneAging -Aging @(Get-DnsServerZoneAging -Name $ZoneName -ComputerName $ComputerName)[0] -Server $server
$enabled = [bool]$before['enabled']
if ($PSBoundParameters.ContainsKey('Aging')) { $enabled = $Aging }
$refresh = [int]$before['refreshHours']
if ($PSBoundParameters.ContainsKey('RefreshHours')) { $refresh = $RefreshHours }
if ($refresh -eq 0) { $refresh = [int](ConvertTo-GatewayHour -Span $server.RefreshInterval) }
$noRefresh = [int]$before['noRefreshHours']
if ($PSBoundParameters.ContainsKey('NoRefreshHours')) { $noRefresh = $NoRefreshHours }
if ($noRefresh -eq 0) { $noRefresh = [int](ConvertTo-GatewayHour -Span $server.NoRefreshInterval) }
if ($enabled -and $before['serverScavengingHours'] -eq 0) {
    $message = 'The scavenging interval of the server is 0, so that it removes no records until that is set, too.'
    Add-GatewayWarning -Code 'no_scavenging' -Target $ZoneName -Message $message
}

# Announce.
New-GatewayIntent -Dn $dn
Add-GatewayIntent -Name 'enabled' -Before ([string]$before['enabled']) -After ([string]$enabled)
Add-GatewayIntent -Name 'refreshHours' -Before ([string]$before['refreshHours']) -After ([string]$refresh)
Add-GatewayIntent -Name 'noRefreshHours' -Before ([string]$before['noRefreshHours']) -After ([string]$noRefresh)
Write-GatewayIntent -Effect 'changed'

# Act.
$changed = [bool]$before['enabled'] -ne $enabled -or [int]$before['refreshHours'] -ne $refresh -or [int]$before['noRefreshHours'] -ne $noRefresh
if ($changed) {
    Set-GatewayStep -Label 'set aging' -Arg 'Aging'
    $set = @{
        Name = $ZoneName; Aging = $enabled; ComputerName = $ComputerName; Confirm = $false
        RefreshInterval = [timespan]::new($GatewayTicksPerHour * $refresh); NoRefreshInterval = [timespan]::new($GatewayTicksPerHour * $noRefresh)
    }
    Set-DnsServerZoneAging @set
    $back = {
        param($Name, $Aging, $Refresh, $NoRefresh, $ComputerName)
        Set-DnsServerZoneAging -Name $Name -Aging $Aging -RefreshInterval $Refresh -NoRefreshInterval $NoRefresh -ComputerName $ComputerName -Confirm:$false
    }
    $arguments = @{
        Name = $ZoneName; Aging = [bool]$before['enabled']; ComputerName = $ComputerName
        Refresh = [timespan]::new($GatewayTicksPerHour * $before['refreshHours']); NoRefresh = [timespan]::new($GatewayTicksPerHour * $before['noRefreshHours'])
    }
    Complete-GatewayStep -Label 'set aging' -Dn $dn -Undo $back -Arguments $arguments
    Complete-GatewayChange -Effect 'changed'
}

# Report.
Set-GatewayStep -Label 'report' -Arg 'ZoneName'
$report = ConvertTo-GatewayZoneAging -Aging @(Get-DnsServerZoneAging -Name $ZoneName -ComputerName $ComputerName)[0] -Server $server
if ($changed) { Add-GatewayChange -Dn $dn -Before $before -After $report }
$report
