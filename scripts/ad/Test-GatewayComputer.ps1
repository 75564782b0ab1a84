# Returns whether a computer exists.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$computer = Find-GatewayComputer -Identity $Identity -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Quiet
if ($null -eq $computer) {
    [ordered]@{ exists = $false; guid = ''; distinguishedName = '' }
    return
}
[ordered]@{ exists = $true; guid = [string]$computer.ObjectGUID; distinguishedName = [string]$computer.DistinguishedName }
