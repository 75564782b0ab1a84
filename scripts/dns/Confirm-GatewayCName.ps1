# Returns whether a CNAME record exists, with its record, to settle a write that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Target,
    [Parameter(Mandatory)] [string] $ComputerName
)

$names = Resolve-GatewayCName -ZoneName $ZoneName -Name $Name -Target $Target -ComputerName $ComputerName
$found = Find-GatewayCName -Names $names -ComputerName $ComputerName -Quiet
$record = $null
if ($null -ne $found) { $record = ConvertTo-GatewayCName -Record @($found) -ZoneName $names.name }
[ordered]@{
    guid   = ''
    dn     = [string]$found.DistinguishedName
    age    = 0
    state  = [ordered]@{ exists = [string]($null -ne $found) }
    record = $record
}
