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
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$listing = New-GatewayListing
$batch = [System.Collections.Generic.List[object]]::new()
# An empty batch first: what the limits stand for is read before the list, since a read while it
# arrives would take a second connection (facts D19).
Add-GatewayGroupListing -Listing $listing -Group $batch.ToArray() @limits
Get-GatewayObject -Class 'group' -Filter $filter -Property $GatewayGroupProperties -Base $base -Scope $scope -Server $Server | ForEach-Object -Process {
    $batch.Add($_)
    if ($batch.Count -ge $GatewayBatchSize) {
        Add-GatewayGroupListing -Listing $listing -Group $batch.ToArray() @limits
        $batch.Clear()
    }
}
Add-GatewayGroupListing -Listing $listing -Group $batch.ToArray() @limits
Write-GatewayListing -Listing $listing
