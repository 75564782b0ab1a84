# Returns the expiry of a local administrator's password with its record, to settle a write that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Guid,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read object'
$search = @{ Class = 'computer'; Property = @('whenCreated'); Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
$search['Filter'] = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Guid)) + ')'
$found = @(Get-GatewayObject @search)
if ($found.Length -eq 0) {
    [ordered]@{ guid = $Guid; dn = ''; age = 0; state = [ordered]@{ exists = 'False' }; record = $null }
    return
}
$laps = Get-GatewayLaps -Guid $Guid -Server $Server
$state = [ordered]@{ exists = 'True' }
if ($laps.attribute -ne '') { $state[$laps.attribute] = [string](Get-GatewayFileTime -Value $laps.ticks) }
[ordered]@{
    guid   = [string]$found[0].ObjectGUID
    dn     = [string]$found[0].DistinguishedName
    age    = [int](Get-GatewayAge -Object $found[0] -Server $Server)
    state  = $state
    record = ConvertTo-GatewayLocalAdmin -Computer $found[0] -Laps $laps
}
