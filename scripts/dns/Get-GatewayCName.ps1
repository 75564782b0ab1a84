# Reads one CNAME record by name and target.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Target,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$names = Resolve-GatewayCName -ZoneName $ZoneName -Name $Name -Target $Target -ComputerName $ComputerName -AllowedZone $AllowedZone
$record = Find-GatewayCName -Names $names -ComputerName $ComputerName
ConvertTo-GatewayCName -Record @($record) -ZoneName $names.name
