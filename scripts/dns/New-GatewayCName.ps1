# Creates a CNAME record.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Target,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
$ZoneName = [string]$zone.ZoneName
$owner = Get-GatewayRelativeName -Name $Name -ZoneName $ZoneName
$data = Get-GatewayTargetName -Target $Target -ZoneName $ZoneName

# Guard.
if ([bool]$zone.IsAutoCreated -or $ZoneName -eq 'TrustAnchors') {
    Stop-Gateway -Code 'protected' -Arg 'ZoneName' -Message "The zone '$ZoneName' belongs to the DNS server itself."
}
if ([string]$zone.ZoneType -ne 'Primary') {
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$ZoneName' is not a primary zone of this server, so records cannot be added to it."
}
if ($owner -eq '') {
    Stop-Gateway -Code 'unprocessable' -Arg 'Name' -Message "The name '$Name' lies outside the zone '$ZoneName'."
}
if ($owner -eq '@') {
    Stop-Gateway -Code 'unprocessable' -Arg 'Name' -Message "A CNAME cannot stand at the root of a zone, beside its SOA and NS records."
}
if (($owner + '.' + $ZoneName) -eq $data) {
    Stop-Gateway -Code 'unprocessable' -Arg 'Target' -Message "The CNAME '$Name' would point to itself."
}
Set-GatewayStep -Label 'check name' -Arg 'Name'
$present = @()
try {
    $present = @(Get-DnsServerResourceRecord -ZoneName $ZoneName -Name $owner -Node -ComputerName $ComputerName)
} catch {
    if (@('9714', '9701') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
}
foreach ($record in $present) {
    $type = ([string]$record.RecordType).ToUpperInvariant()
    if ($type -eq 'NS') { continue } # a delegation: the server itself refuses what may not stand there
    Stop-Gateway -Code 'conflict' -Arg 'Name' -Message "The name '$owner' already has a $type record in the zone '$ZoneName'; a CNAME must be alone."
}

# Act.
Set-GatewayStep -Label 'create record' -Arg 'Name'
$create = @{
    ZoneName = $ZoneName; Name = $owner; HostNameAlias = $data + '.'; ComputerName = $ComputerName
    AgeRecord = $false; AllowUpdateAny = $false; PassThru = $true; Confirm = $false
}
$created = @(Add-DnsServerResourceRecordCName @create)[0]
$remove = {
    param($ZoneName, $Record, $ComputerName)
    Remove-DnsServerResourceRecord -ZoneName $ZoneName -InputObject $Record -ComputerName $ComputerName -Force -Confirm:$false
}
Complete-GatewayStep -Label 'create record' -Dn ([string]$created.DistinguishedName) -Undo $remove -Arguments @{ ZoneName = $ZoneName; Record = $created; ComputerName = $ComputerName }
Complete-GatewayChange -Effect 'created'

# Report.
$record = Find-GatewayCName -ZoneName $ZoneName -Name $owner -Target $data -ComputerName $ComputerName
if ($null -eq $record) {
    Stop-Gateway -Code 'not_found' -Arg 'Name' -Message "The record '$owner' was created but could not be read back."
}
$report = ConvertTo-GatewayCName -Record @($record) -ZoneName $ZoneName
Add-GatewayChange -Dn ([string]$record.DistinguishedName) -Before $null -After $report
$report
