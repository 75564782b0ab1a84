# Reads one OU, container or the domain root.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $OUPath,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find OU' -Arg 'OUPath'
$container = Find-GatewayContainer -Dn $OUPath -Property $GatewayContainerProperties -Server $Server -Arg 'OUPath' -Code 'not_found'
Assert-GatewayAllowed -Dn ([string]$container.DistinguishedName) -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'

ConvertTo-GatewayContainer -Container @($container)
