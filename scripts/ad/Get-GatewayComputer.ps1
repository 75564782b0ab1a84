# Reads one computer.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$computer = Find-GatewayComputer -Identity $Identity -Property $GatewayComputerProperties -AllowedOU $AllowedOU -Server $Server -Arg 'Identity'

ConvertTo-GatewayComputer -Computer @($computer)
