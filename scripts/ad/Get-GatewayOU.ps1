# Reads one OU, container or the domain root, by its distinguished name or its GUID.
[CmdletBinding()]
param(
    [AllowNull()] [string] $OUPath,
    [AllowNull()] [string] $OUGuid,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$argument = 'OUPath'
if ($OUGuid) { $argument = 'OUGuid' }
Set-GatewayStep -Label 'find OU' -Arg $argument
if ($OUGuid) {
    $container = Find-GatewayContainerByGuid -Guid $OUGuid -AllowedOU $AllowedOU -Server $Server -Arg 'OUGuid'
} else {
    $container = Find-GatewayContainer -Dn $OUPath -Property $GatewayContainerProperties -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath' -Code 'not_found'
}

ConvertTo-GatewayContainer -Container @($container)
