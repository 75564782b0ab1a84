# Lists the users of the domain, or of one OU or container.
[CmdletBinding()]
param(
    [AllowNull()] [string] $OUPath,
    [bool] $Recursive = $true,
    [Parameter(Mandatory)] [string[]] $Field,
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

Set-GatewayStep -Label 'list users'
$properties = Get-GatewayUserProperty -Field $Field
$found = @(Get-GatewayObject -Class 'user' -Filter '' -Property $properties -Base $base -Scope $scope -Server $Server)
$users = Get-GatewaySorted -Items $found -AllowedOU $AllowedOU -Server $Server

ConvertTo-GatewayUser -User $users -Field $Field
