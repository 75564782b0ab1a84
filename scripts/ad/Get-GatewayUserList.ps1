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
    $base = Find-GatewaySearchBase -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
}
$scope = 'Subtree'
if (-not $Recursive) { $scope = 'OneLevel' }

Set-GatewayStep -Label 'list users'
$properties = Get-GatewayUserProperty -Field $Field
$bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
$listing = New-GatewayListing
$batch = [System.Collections.Generic.List[object]]::new()
Get-GatewayObject -Class 'user' -Filter '' -Property $properties -Base $base -Scope $scope -Server $Server | ForEach-Object -Process {
    if ($null -eq $bases -or (Test-GatewayWithin -Dn ([string]$_.DistinguishedName) -Base $bases)) { $batch.Add($_) }
    if ($batch.Count -ge $GatewayBatchSize) {
        $records = @(ConvertTo-GatewayUser -User $batch.ToArray() -Field $Field -AllowedOU $AllowedOU -Server $Server)
        Add-GatewayListing -Listing $listing -Item $batch.ToArray() -Record $records
        $batch.Clear()
    }
}
$records = @(ConvertTo-GatewayUser -User $batch.ToArray() -Field $Field -AllowedOU $AllowedOU -Server $Server)
Add-GatewayListing -Listing $listing -Item $batch.ToArray() -Record $records
Write-GatewayListing -Listing $listing
