# Reads one CNAME record by name and target.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Target,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
$ZoneName = [string]$zone.ZoneName
$owner = Get-GatewayRelativeName -Name $Name -ZoneName $ZoneName
$data = Get-GatewayTargetName -Target $Target -ZoneName $ZoneName

Set-GatewayStep -Label 'find record' -Arg 'Name'
$record = Find-GatewayCName -ZoneName $ZoneName -Name $owner -Target $data -ComputerName $ComputerName
if ($null -eq $record) {
    Stop-Gateway -Code 'not_found' -Arg 'Name' -Message "There is no CNAME '$Name' with the target '$Target' in the zone '$ZoneName'."
}
ConvertTo-GatewayCName -Record @($record) -ZoneName $ZoneName
