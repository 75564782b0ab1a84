# Returns whether a zone exists.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [bool] $IgnoreSystemZones = $true,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone -Quiet
if ($null -ne $zone -and $IgnoreSystemZones -and (Test-GatewaySystemZone -Zone $zone)) { $zone = $null }
[ordered]@{
    exists            = $null -ne $zone
    guid              = ''
    distinguishedName = [string]$zone.DistinguishedName
}
