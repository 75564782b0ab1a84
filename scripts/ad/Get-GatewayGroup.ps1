# Reads one group.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $GroupName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$group = Find-GatewayGroup -Identity $GroupName -Property $GatewayGroupProperties -Arg 'GroupName' @limits
ConvertTo-GatewayGroup -Group @($group) -AllowedOU $AllowedOU -Server $Server
