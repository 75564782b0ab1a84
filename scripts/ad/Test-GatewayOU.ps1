# Returns whether an OU or container exists.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $OUPath,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find OU' -Arg 'OUPath'
$container = Find-GatewayContainer -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath' -Code 'not_found' -Quiet
if ($null -eq $container) {
    [ordered]@{ exists = $false; guid = ''; distinguishedName = '' }
    return
}
[ordered]@{ exists = $true; guid = [string]$container.ObjectGUID; distinguishedName = [string]$container.DistinguishedName }
