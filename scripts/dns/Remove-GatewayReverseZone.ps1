# Removes a reverse lookup zone with all its records.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [int] $ImpactLimit,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve and guard.
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
if (Test-GatewaySystemZone -Zone $zone) {
    Stop-Gateway -Code 'protected' -Arg 'ZoneName' -Message "The zone '$ZoneName' belongs to the DNS server itself."
}
if (-not [bool]$zone.IsReverseLookupZone) {
    Stop-Gateway -Code 'invalid_request' -Arg 'ZoneName' -Message "The zone '$ZoneName' is a forward lookup zone."
}
Set-GatewayStep -Label 'count records' -Arg 'ZoneName'
$records = @()
$count = 0
try {
    $records = @(Get-DnsServerResourceRecord -ZoneName $ZoneName -ComputerName $ComputerName)
    $count = $records.Length
} catch {
    $code = Get-GatewayErrorCode -Record $_
    if (-not $Privileged) { # what cannot be read may be guarded
        Stop-GatewayGuarded -Target $ZoneName -Arg 'ZoneName' -Why "its records could not be read (error $code), so that it may have some of domain controllers"
    }
    Add-GatewayWarning -Code 'not_counted' -Target $ZoneName -Message "The records of the zone could not be counted (error $code)."
}
if (-not $Privileged) {
    $controllers = @($KnownController) + @($ComputerName)
    foreach ($record in $records) {
        if (([string]$record.RecordType) -ne 'PTR') { continue }
        $target = ([string]$record.RecordData.PtrDomainName).TrimEnd([char]'.')
        foreach ($controller in $controllers) {
            if ($controller -and $target.Equals($controller.TrimEnd([char]'.'), [System.StringComparison]::OrdinalIgnoreCase)) {
                Stop-GatewayGuarded -Target $ZoneName -Arg 'ZoneName' -Why $GatewayGuards.reverse.why
            }
        }
    }
}
if ($count -ge $ImpactLimit) {
    Stop-Gateway -Code 'too_many' -Arg 'ZoneName' -Message "Removing the zone '$ZoneName' would remove it with $count records."
}
$report = ConvertTo-GatewayZone -Zone @($zone)
$dn = [string]$zone.DistinguishedName

# Announce.
$script:GatewayCounts['records'] = [int]$count
New-GatewayIntent -Removes -Dn $dn -Record $report
Write-GatewayIntent -Effect 'removed'

# Act.
Set-GatewayStep -Label 'remove zone' -Arg 'ZoneName'
Remove-DnsServerZone -Name $ZoneName -ComputerName $ComputerName -Force -Confirm:$false
Complete-GatewayStep -Label 'remove zone' -Dn $dn
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayChange -Dn $dn -Before $report -After $null
$report
