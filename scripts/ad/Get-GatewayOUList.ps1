# Lists the OUs of the domain; with ListContainers also its containers, including hidden and system ones.
[CmdletBinding()]
param(
    [bool] $ListContainers = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'list OUs'
$filter = '(objectClass=organizationalUnit)'
if ($ListContainers) { $filter = '(|(objectClass=organizationalUnit)(objectClass=container)(objectClass=builtinDomain))' }
$base = (Get-GatewayDomain -Server $Server).dn
$found = @(Get-GatewayObject -Class 'any' -Filter $filter -Property $GatewayContainerProperties -Base $base -Server $Server)
$containers = Get-GatewaySorted -Items $found -AllowedOU $AllowedOU -Server $Server

ConvertTo-GatewayContainer -Container $containers
