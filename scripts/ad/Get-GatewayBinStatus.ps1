# Reports whether the Recycle Bin is enabled and how long objects stay in it.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Server)

Set-GatewayStep -Label 'read optional feature'
$enabled = Test-GatewayBin -Server $Server
if (-not $enabled) {
    Add-GatewayWarning -Code 'bin_off' -Target '' -Message 'The Recycle Bin is not enabled: what is deleted cannot be restored.'
}
Set-GatewayStep -Label 'read lifetimes'
$life = Get-GatewayLifetime -Server $Server
# An account that may not see the container gets an empty list, not an error (facts R12).
Set-GatewayStep -Label 'read deleted objects'
$domain = Get-GatewayDomain -Server $Server
$search = @{ LDAPFilter = '(objectClass=*)'; SearchBase = $domain.deleted; SearchScope = 'Base'; ResultSetSize = 1; Server = $Server }
$readable = $false
try {
    $readable = @(Get-ADObject -IncludeDeletedObjects @search).Length -gt 0
} catch {
    if ($_.Exception.GetType().Name -ne 'ADIdentityNotFoundException') { throw }
}
$deleted = $null
if ($null -ne $life['deleted']) { $deleted = [int]$life['deleted'] }
$tombstone = $null
if ($null -ne $life['tombstone']) { $tombstone = [int]$life['tombstone'] }
[ordered]@{
    enabled           = [bool]$enabled
    forestLevel       = [string](Get-ADRootDSE -Server $Server).forestFunctionality
    deletedObjectDays = $deleted
    tombstoneDays     = $tombstone
    canRead           = [bool]$readable
    canRestore        = $null
}
