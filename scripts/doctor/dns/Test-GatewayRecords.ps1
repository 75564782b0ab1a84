# Tests the time stamps and names with which records are returned, and whether the removal of a record keeps the
# other records of its name. Now is the current time (UTC) in ticks.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Prefix,
    [Parameter(Mandatory)] [long] $Now,
    [Parameter(Mandatory)] [string] $ComputerName
)

$cname = @{ ZoneName = $ZoneName; ComputerName = $ComputerName; HostNameAlias = 'www.example.com.'; AllowUpdateAny = $false; Confirm = $false }
$node = @{ ZoneName = $ZoneName; ComputerName = $ComputerName; Node = $true }
Test-GatewayFact -Fact 'time stamp of a record that ages' -Action {
    Add-DnsServerResourceRecordCName -Name ($Prefix + 'aged') -AgeRecord @cname
    $record = @(Get-DnsServerResourceRecord -Name ($Prefix + 'aged') -RRType CName @node)[0]
    if ($null -eq $record.Timestamp) { return 'none' }
    # The server rounds to the hour.
    $ticks = $Now - ([datetime]$record.Timestamp).ToUniversalTime().Ticks
    [string]([datetime]$record.Timestamp).Kind + ', hours ago: ' + [string](($ticks - $ticks % 36000000000) / 36000000000)
}
Test-GatewayFact -Fact 'time stamp of a record that does not' -Action {
    Add-DnsServerResourceRecordCName -Name ($Prefix + 'static') -AgeRecord:$false @cname
    [string]($null -eq @(Get-DnsServerResourceRecord -Name ($Prefix + 'static') -RRType CName @node)[0].Timestamp)
}
foreach ($name in @(($Prefix + 'a.b'), ('*.' + $Prefix + 'w'))) {
    Test-GatewayFact -Fact ('name of ' + $name) -Action {
        Add-DnsServerResourceRecordCName -Name $name -AgeRecord:$false @cname
        @(foreach ($record in @(Get-DnsServerResourceRecord -Name $name -RRType CName @node)) { [string]$record.HostName })
    }
}
$full = $Prefix + 'full.' + $ZoneName + '.'
Test-GatewayFact -Fact 'name that was given in full, with a dot' -Action {
    Add-DnsServerResourceRecordCName -Name $full -AgeRecord:$false @cname
    @(foreach ($record in @(Get-DnsServerResourceRecord -Name ($Prefix + 'full') -RRType CName @node)) { [string]$record.HostName })
}
Test-GatewayFact -Fact 'name that was asked for in full, with a dot' -Action {
    @(foreach ($record in @(Get-DnsServerResourceRecord -Name $full -RRType CName @node)) { ([string]$record.HostName).Replace($ZoneName, '<zone>') })
}
$address = @{ ZoneName = $ZoneName; ComputerName = $ComputerName; Name = $Prefix + 'two'; A = $true; PassThru = $true; Confirm = $false }
Test-GatewayFact -Fact 'two addresses of a name, one removed as it was added' -Action {
    $first = Add-DnsServerResourceRecord -IPv4Address '192.0.2.1' @address
    $second = Add-DnsServerResourceRecord -IPv4Address '192.0.2.2' @address
    Remove-DnsServerResourceRecord -ZoneName $ZoneName -InputObject $first -ComputerName $ComputerName -Force -Confirm:$false
    @(foreach ($record in @(Get-DnsServerResourceRecord -Name ($Prefix + 'two') -RRType A @node)) { [string]$record.RecordData.IPv4Address })
}
