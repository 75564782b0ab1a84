# Reads a set of records, which contains all records of one name and type.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Type,
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$place = Resolve-GatewayRecord -Type $Type -ZoneName $ZoneName -Name $Name -AllowedZone $AllowedZone -ComputerName $ComputerName
Set-GatewayStep -Label 'find records' -Arg 'Name'
$records = @(Get-GatewayRecordsOfType -Place $place -Type $Type -ComputerName $ComputerName)
$report = ConvertTo-GatewayRecordSet -Record $records -ZoneName $place.name
foreach ($record in $records) {
    if ([long]$record.TimeToLive.TotalSeconds -ne $report.ttl) {
        Add-GatewayWarning -Code 'ttl_differs' -Target $place.fqdn -Message 'The records of the set have different times to live; the lowest is shown.'
        break
    }
}
$report
