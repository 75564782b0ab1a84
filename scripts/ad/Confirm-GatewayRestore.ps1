# Returns which of several deleted objects are back, in the given order, to settle a restore that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $Guids,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read objects'
foreach ($guid in $Guids) {
    $state = [ordered]@{ exists = 'False' }
    $record = ConvertTo-GatewayRestored -Guid @($guid) -Server $Server
    if ($null -ne $record) {
        $state = [ordered]@{ exists = 'True'; enabled = [string]$record.enabled; protected = [string]$record.protected }
    }
    [ordered]@{ guid = [string]$guid; dn = [string]$record.distinguishedName; age = 0; state = $state; record = $record }
}
