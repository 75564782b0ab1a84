# Lists groups of the domain, or of one OU or container: all groups, or those of one category. The list has all of
# these, or those that match a text or a filter. It is sent as a whole or in pages.
[CmdletBinding()]
param(
    [AllowNull()] [string] $OUPath,
    [bool] $Recursive = $true,
    [AllowNull()] [string] $Category,
    [AllowNull()] [string] $Text,
    [AllowNull()] [string] $TextDomain,
    [AllowNull()] [string] $TextForeign,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Filter,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $FilterCheck,
    [AllowNull()] [string] $FilterSlow,
    [int] $Limit = 0,
    [AllowNull()] [string] $After,
    [int] $AfterStart = 0,
    [bool] $Count = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$base = (Get-GatewayDomain -Server $Server).dn
$sought = $Text
if ($TextDomain -and -not (Test-GatewayOwnDomain -Name $TextDomain -Server $Server)) { $sought = $TextForeign }
if ($OUPath) {
    $base = Find-GatewaySearchBase -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
}
$scope = 'Subtree'
if (-not $Recursive) { $scope = 'OneLevel' }
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$where = [string](Resolve-GatewayFilter -Text $sought -Segment $Filter -GroupsOnly @limits)

# The security bit of groupType (facts E34).
if ($Category -eq 'Security') { $where += '(groupType:1.2.840.113556.1.4.803:=2147483648)' }
if ($Category -eq 'Distribution') { $where += '(!(groupType:1.2.840.113556.1.4.803:=2147483648))' }

Set-GatewayStep -Label 'list groups'
Add-GatewaySlowFilter -Field $FilterSlow -Text $sought
$search = @{
    Class    = 'group'
    Property = $GatewayGroupProperties + @(Get-GatewayCheckProperty -Check $FilterCheck)
    Place    = Get-GatewaySearchPlace -Base $base -Scope $scope @limits
    Scope    = $scope
    Check    = $FilterCheck
    Text     = $sought
    AllowedGroup = $AllowedGroup
    AllowedOU = $AllowedOU
    Server   = $Server
}
Write-GatewaySearch -Search $search -Filter $where -Limit $Limit -After $After -AfterStart $AfterStart -Count $Count
