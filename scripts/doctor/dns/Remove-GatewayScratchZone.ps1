# Removes the records and zones of the probes, and the scratch zone itself if the doctor created it. It
# continues after failures, and returns what remains and why.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Prefix,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Zone,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Whole zones: that of the network, and the scratch zone if it is given.
foreach ($name in @($Zone)) {
    if ($null -eq (Find-GatewayZone -ZoneName $name -ComputerName $ComputerName -Quiet)) { continue }
    Set-GatewayStep -Label 'remove zone'
    try {
        Remove-DnsServerZone -Name $name -ComputerName $ComputerName -Force -Confirm:$false
    } catch {
        [ordered]@{ dn = [string]$name; reason = [string]$_.Exception.Message }
    }
}
foreach ($name in @($Zone)) {
    if ($ZoneName.Equals($name, [System.StringComparison]::OrdinalIgnoreCase)) { return }
}
if ($null -eq (Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -Quiet)) { return }
Set-GatewayStep -Label 'remove records'
foreach ($record in @(Get-DnsServerResourceRecord -ZoneName $ZoneName -ComputerName $ComputerName)) {
    $name = [string]$record.HostName
    $apex = $name -eq '@' -and @('SOA', 'NS') -notcontains [string]$record.RecordType
    if (-not $apex -and -not (Test-GatewayOwnRecord -Name $name -Prefix $Prefix)) { continue }
    try {
        Remove-DnsServerResourceRecord -ZoneName $ZoneName -InputObject $record -ComputerName $ComputerName -Force -Confirm:$false
    } catch {
        [ordered]@{ dn = [string]($name + '.' + $ZoneName); reason = [string]$_.Exception.Message }
    }
}
