# Lists groups: all or those of one category, of the domain or of one OU or container.
[CmdletBinding()]
param(
    [AllowNull()] [string] $OUPath,
    [bool] $Recursive = $true,
    [AllowNull()] [string] $Category,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$base = (Get-GatewayDomain -Server $Server).dn
if ($OUPath) {
    $base = Find-GatewaySearchBase -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
}
$scope = 'Subtree'
if (-not $Recursive) { $scope = 'OneLevel' }

# The security bit of groupType (facts E34).
$filter = ''
if ($Category -eq 'Security') { $filter = '(groupType:1.2.840.113556.1.4.803:=2147483648)' }
if ($Category -eq 'Distribution') { $filter = '(!(groupType:1.2.840.113556.1.4.803:=2147483648))' }

Set-GatewayStep -Label 'list groups'
$found = @(Get-GatewayObject -Class 'group' -Filter $filter -Property $GatewayGroupProperties -Base $base -Scope $scope -Server $Server)
$allowed = @(Get-GatewayAllowedGroup -Group $found -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server)
$groups = Get-GatewaySorted -Items $allowed -Server $Server

ConvertTo-GatewayGroup -Group $groups -AllowedOU $AllowedOU -Server $Server
