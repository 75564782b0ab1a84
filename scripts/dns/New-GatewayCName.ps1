# Creates a CNAME record.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Target,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$names = Resolve-GatewayCName -ZoneName $ZoneName -Name $Name -Target $Target -ComputerName $ComputerName -AllowedZone $AllowedZone
$zone = $names.name
$owner = $names.owner

# Guard.
if ([bool]$names.zone.IsAutoCreated -or $zone -eq 'TrustAnchors') {
    Stop-Gateway -Code 'protected' -Arg 'ZoneName' -Message "The zone '$zone' belongs to the DNS server itself."
}
if ([string]$names.zone.ZoneType -ne 'Primary') {
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$zone' is not a primary zone of this server, so records cannot be added to it."
}
if ($owner -eq '') {
    Stop-Gateway -Code 'unprocessable' -Arg 'Name' -Message "The name '$Name' lies outside the zone '$zone'."
}
if ($owner -eq '@') {
    Stop-Gateway -Code 'unprocessable' -Arg 'Name' -Message 'A CNAME cannot stand at the root of a zone, beside its SOA and NS records.'
}
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName) }
Assert-GatewayName -Name ($owner + '.' + $zone) -Arg 'Name' @guards
if ([string]::Equals($owner + '.' + $zone, $names.target, [System.StringComparison]::OrdinalIgnoreCase)) {
    Stop-Gateway -Code 'unprocessable' -Arg 'Target' -Message "The CNAME '$owner' would point to itself."
}
Set-GatewayStep -Label 'check name' -Arg 'Name'
$present = @()
try {
    $present = @(Get-DnsServerResourceRecord -ZoneName $zone -Name $owner -Node -ComputerName $ComputerName)
} catch {
    if (@('9714', '9701') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
}
foreach ($record in $present) {
    $type = ([string]$record.RecordType).ToUpperInvariant()
    if ($type -eq 'NS') { continue } # a delegation: the server itself refuses records that are not allowed there
    Stop-Gateway -Code 'conflict' -Arg 'Name' -Message "The name '$owner' already has records ($type) in the zone '$zone'; a CNAME must be alone."
}

# Announce.
New-GatewayIntent -Creates -Dn ($owner + '.' + $zone)
Write-GatewayIntent -Effect 'created'

# Act.
Set-GatewayStep -Label 'create record' -Arg 'Name'
$create = @{
    ZoneName = $zone; Name = $owner; HostNameAlias = $names.target + '.'; ComputerName = $ComputerName
    AgeRecord = $false; AllowUpdateAny = $false; PassThru = $true; Confirm = $false
}
$created = @(Add-DnsServerResourceRecordCName @create)[0]
$remove = {
    param($ZoneName, $Record, $ComputerName)
    Remove-DnsServerResourceRecord -ZoneName $ZoneName -InputObject $Record -ComputerName $ComputerName -Force -Confirm:$false
}
$arguments = @{ ZoneName = $zone; Record = $created; ComputerName = $ComputerName }
Complete-GatewayStep -Label 'create record' -Dn ([string]$created.DistinguishedName) -Undo $remove -Arguments $arguments
Complete-GatewayChange -Effect 'created'

# Report.
$record = Find-GatewayCName -Names $names -ComputerName $ComputerName
$report = ConvertTo-GatewayCName -Record @($record) -ZoneName $zone
Add-GatewayChange -Dn ([string]$record.DistinguishedName) -Before $null -After $report
$report
