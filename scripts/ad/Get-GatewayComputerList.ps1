# Lists the computers of the domain, or of one OU or container.
[CmdletBinding()]
param(
    [AllowNull()] [string] $OUPath,
    [bool] $Recursive = $true,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$base = (Get-GatewayDomain -Server $Server).dn
if ($OUPath) {
    Set-GatewayStep -Label 'find search base' -Arg 'OUPath'
    $base = [string](Find-GatewayContainer -Dn $OUPath -Server $Server -Arg 'OUPath' -Code 'not_found').DistinguishedName
}
$scope = 'Subtree'
if (-not $Recursive) { $scope = 'OneLevel' }

Set-GatewayStep -Label 'list computers'
$found = @(Get-GatewayObject -Class 'computer' -Filter '' -Property $GatewayComputerProperties -Base $base -Scope $scope -Server $Server)
$computers = Get-GatewaySorted -Items $found -AllowedOU $AllowedOU -Server $Server
ConvertTo-GatewayComputer -Computer $computers
