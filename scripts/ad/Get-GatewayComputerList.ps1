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
    $base = Find-GatewaySearchBase -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
}
$scope = 'Subtree'
if (-not $Recursive) { $scope = 'OneLevel' }

Set-GatewayStep -Label 'list computers'
$bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
$listing = New-GatewayListing
$batch = [System.Collections.Generic.List[object]]::new()
Get-GatewayObject -Class 'computer' -Filter '' -Property $GatewayComputerProperties -Base $base -Scope $scope -Server $Server | ForEach-Object -Process {
    if ($null -eq $bases -or (Test-GatewayWithin -Dn ([string]$_.DistinguishedName) -Base $bases)) { $batch.Add($_) }
    if ($batch.Count -ge $GatewayBatchSize) {
        Add-GatewayListing -Listing $listing -Item $batch.ToArray() -Record @(ConvertTo-GatewayComputer -Computer $batch.ToArray())
        $batch.Clear()
    }
}
Add-GatewayListing -Listing $listing -Item $batch.ToArray() -Record @(ConvertTo-GatewayComputer -Computer $batch.ToArray())
Write-GatewayListing -Listing $listing
