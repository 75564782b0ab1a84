# Returns which of several objects still exist, in the given order, to settle a removal that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $Guids,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read objects'
$search = @{ Class = 'any'; Base = (Get-GatewayDomain -Server $Server).dn; Property = 'ProtectedFromAccidentalDeletion'; Server = $Server }
foreach ($guid in $Guids) {
    $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$guid)) + ')'
    $found = @(Get-GatewayObject -Filter $filter @search)
    $state = [ordered]@{ exists = 'False' }
    if ($found.Length -gt 0) {
        $state = [ordered]@{ exists = 'True'; protected = [string][bool]$found[0].ProtectedFromAccidentalDeletion }
    }
    [ordered]@{ guid = [string]$guid; dn = [string]$found[0].DistinguishedName; age = 0; state = $state; record = $null }
}
