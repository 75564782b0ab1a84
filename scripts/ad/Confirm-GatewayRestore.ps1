# Returns which of several deleted objects have been restored, in the given order, to settle a restore that was cut
# off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $Guids,
    [Parameter(Mandatory)] [string[]] $UserField,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read objects'
foreach ($guid in $Guids) {
    $state = [ordered]@{ exists = 'False' }
    $record = $null
    $dn = ''
    $search = @{
        Class = 'any'; Filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$guid)) + ')'; Base = (Get-GatewayDomain -Server $Server).dn
        Property = @('userAccountControl', 'ProtectedFromAccidentalDeletion'); Server = $Server
    }
    foreach ($object in @(Get-GatewayObject @search)) {
        $dn = [string]$object.DistinguishedName
        $record = ConvertTo-GatewayRestored -Guid @($guid) -UserField $UserField -AllowedOU $AllowedOU -Server $Server
        $enabled = ''
        if ($null -ne $object.userAccountControl) { $enabled = [string](([long]$object.userAccountControl -band 2) -eq 0) }
        $state = [ordered]@{ exists = 'True'; enabled = $enabled; protected = [string][bool]$object.ProtectedFromAccidentalDeletion }
    }
    [ordered]@{ guid = [string]$guid; dn = $dn; age = 0; state = $state; record = $record }
}
