# Lists the users of the domain, or of one OU or container. The list has all users, or those that match a text or a
# filter. It is sent as a whole or in pages.
[CmdletBinding()]
param(
    [AllowNull()] [string] $OUPath,
    [bool] $Recursive = $true,
    [Parameter(Mandatory)] [string[]] $Field,
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
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
$where = [string](Resolve-GatewayFilter -Text $sought -Segment $Filter @limits)

Set-GatewayStep -Label 'list users'
Add-GatewaySlowFilter -Field $FilterSlow -Text $sought
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$search = @{
    Class    = 'user'
    Property = $shown.properties + @(Get-GatewayCheckProperty -Check $FilterCheck)
    Place    = Get-GatewaySearchPlace -Base $base -Scope $scope -AllowedOU $AllowedOU -Server $Server
    Scope    = $scope
    Check    = $FilterCheck
    Text     = $sought
    Field    = $shown
    AllowedOU = $AllowedOU
    Server   = $Server
}
Write-GatewaySearch -Search $search -Filter $where -Limit $Limit -After $After -AfterStart $AfterStart -Count $Count
