# Lists the OUs of the domain. With ListContainers, it also lists all other objects whose purpose is to contain
# objects, including hidden and system objects.
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
$bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
$guids = [System.Collections.Generic.List[string]]::new()
Get-GatewayObject -Class 'container' -Filter $filter -Base $base -Server $Server | ForEach-Object -Process {
    if ($null -eq $bases -or (Test-GatewayWithin -Dn ([string]$_.DistinguishedName) -Base $bases)) { $guids.Add([string]$_.ObjectGUID) }
}
$listing = New-GatewayListing
$batch = [System.Collections.Generic.List[object]]::new()
Get-GatewayObjectAgain -Guid $guids.ToArray() -Property $GatewayContainerProperties -Base $base -Server $Server | ForEach-Object -Process {
    if ($null -eq $bases -or (Test-GatewayWithin -Dn ([string]$_.DistinguishedName) -Base $bases)) { $batch.Add($_) }
    if ($batch.Count -ge $GatewayBatchSize) {
        Add-GatewayListing -Listing $listing -Item $batch.ToArray() -Record @(ConvertTo-GatewayContainer -Container $batch.ToArray())
        $batch.Clear()
    }
}
Add-GatewayListing -Listing $listing -Item $batch.ToArray() -Record @(ConvertTo-GatewayContainer -Container $batch.ToArray())
Write-GatewayListing -Listing $listing -Hold
