# Removes all records that name a host in one change. These are the records of its name and those that lead to it,
# in all zones. If one record cannot be removed, those removed before are restored. Controller is for a domain
# controller that no longer exists. The script then also removes it from the name servers of zones, and removes its
# addresses from the names of the domain.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Named,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Type,
    [bool] $Controller = $false,
    [Parameter(Mandatory)] [int] $BulkLimit,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedName,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
$bare = $Named.TrimEnd([char]'.')
if ($Controller) {
    Assert-GatewayPrivileged -Target $bare -Guard 'locator' -Privileged $Privileged -Arg 'Named'
    Assert-GatewayGone -Name $bare -KnownController $KnownController -ComputerName $ComputerName
}
Assert-GatewayName -Name $bare -Arg 'Named' @guards
$found = @(Find-GatewayNaming -Name $bare -Type $Type -AllowedZone $AllowedZone -ComputerName $ComputerName)
if ($Controller) {
    $ask = @{ AllowedZone = $AllowedZone; KnownController = $KnownController; ComputerName = $ComputerName }
    $found = @(Find-GatewayDomainAddress -Found $found @ask) + $found
}

# Guard.
$going = [System.Collections.Generic.List[object]]::new()
foreach ($item in $found) {
    $others = 0
    if ($Controller -and $item.type -eq 'NS' -and $item.report.name -eq '@') {
        $others = @(Get-GatewayNameServer -ZoneName $item.name -ComputerName $ComputerName).Length - 1
    }
    $why = Get-GatewayStayReason -Item $item -Controller $Controller -Servers $others
    if ($why -ne '') {
        Add-GatewayWarning -Code 'not_removed' -Target $item.fqdn -Message "The $($item.type) record '$($item.report.data)' stays: $why."
        continue
    }
    Assert-GatewayRemovable -Item $item -AllowedName $AllowedName -Guards $guards
    $going.Add($item)
}
if ($going.Count -gt $BulkLimit) {
    $message = "$($going.Count) records name '$bare'; one request removes at most $BulkLimit. Nothing was removed. Type removes them in parts."
    Stop-Gateway -Code 'too_many' -Arg 'Named' -Message $message
}

# Announce.
foreach ($item in $going) {
    New-GatewayIntent -Dn $item.fqdn -Name ($item.name + ' ' + $item.key) -Parent $item.name -Record $item.report -Image @{ records = @($item.report) }
    Add-GatewayIntent -Name $item.key -Before 'True' -After 'False'
}
if ($going.Count -eq 0) { return }
Write-GatewayIntent -Effect 'removed'

# Act.
foreach ($item in $going) { Remove-GatewayRecordValue -ZoneName $item.name -Record $item.record -Whole $true -ComputerName $ComputerName }
Complete-GatewayChange -Effect 'removed'

# Report.
foreach ($item in $going) {
    Add-GatewayChange -Dn $item.fqdn -Before $item.report -After $null
    $item.report
}
