# Lists the OUs of the domain; with ListContainers also all else that is there to hold objects, hidden
# and system objects included.
[CmdletBinding()]
param(
    [bool] $ListContainers = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'list OUs'
$filter = '(objectClass=organizationalUnit)'
if ($ListContainers) { $filter = '(!(objectClass=domainDNS))' }
$base = (Get-GatewayDomain -Server $Server).dn
$found = @(Get-GatewayObject -Class 'container' -Filter $filter -Base $base -Server $Server)
$allowed = Get-GatewaySorted -Items $found -AllowedOU $AllowedOU -Server $Server
$read = @(Get-GatewayObjectAgain -Object $allowed -Property $GatewayContainerProperties -Base $base -Server $Server)
$containers = Get-GatewaySorted -Items $read -AllowedOU $AllowedOU -Server $Server

ConvertTo-GatewayContainer -Container $containers
