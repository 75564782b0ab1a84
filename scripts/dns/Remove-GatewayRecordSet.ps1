# Removes a set of records, which contains all records of one name and type.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Type,
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
$ask = @{ Type = $Type; ZoneName = $ZoneName; Name = $Name; AllowedZone = $AllowedZone; ComputerName = $ComputerName }
$place = Resolve-GatewayRecord -Guards $guards @ask
Set-GatewayStep -Label 'find records' -Arg 'Name'
$before = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
$records = @(Get-GatewayRecordsOfType -Place $place -Type $Type -ComputerName $ComputerName)

# Guard.
Assert-GatewayRecordZone -Zone $place.zone
if ($Type -eq 'SOA' -or ($Type -eq 'NS' -and $place.owner -eq '@')) {
    Stop-Gateway -Code 'protected' -Arg 'Type' -Message "The $Type records of the zone '$($place.name)' itself belong to its servers."
}
if ($Type -eq 'NS') {
    $message = "The NS records of '$($place.fqdn)' are a delegation, whose addresses go with it: remove it with DELETE /api/DnsDelegation."
    Stop-Gateway -Code 'protected' -Arg 'Type' -Message $message
}
foreach ($record in $records) {
    if ($GatewayRecordTypes[$Type].reverse) { Assert-GatewayReverseTarget -Data @(Get-GatewayRecordField -Record $record) @guards }
}
$report = ConvertTo-GatewayRecordSet -Record $records -ZoneName $place.name
$dn = [string]$records[0].DistinguishedName

# Announce.
New-GatewayIntent -Dn $place.fqdn -Parent $place.name -Record $report -Image @{ records = @(ConvertTo-GatewayRecord -Record $records -ZoneName $place.name) }
foreach ($record in $records) {
    Add-GatewayValueIntent -Fqdn $place.fqdn -Type $Type -Data @(Get-GatewayRecordField -Record $record) -Before $true -After $false
}
Write-GatewayIntent -Effect 'removed'

# Act.
foreach ($record in $records) { Remove-GatewayRecordValue -ZoneName $place.name -Record $record -Whole $true -ComputerName $ComputerName }
Complete-GatewayChange -Effect 'removed'

# Report.
$after = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
Add-GatewayLoss -Fqdn $place.fqdn -Before $before -After $after -Removed @(Get-GatewayNodeKey -Fqdn $place.fqdn -Record $records)
Add-GatewayChange -Dn $dn -Before $report -After $null
$report
