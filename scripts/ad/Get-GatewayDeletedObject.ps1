# Reads one deleted object with its memberships and the objects that were directly below it.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Guid,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read optional feature'
$enabled = Test-GatewayBin -Server $Server
if (-not $enabled) {
    Add-GatewayWarning -Code 'bin_off' -Target '' -Message 'The Recycle Bin is not enabled: what is deleted cannot be restored.'
}
$known = @{}
$object = Find-GatewayDeleted -Guid $Guid -Known $known -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server
Set-GatewayStep -Label 'read children'
$filter = '(lastKnownParent=' + (Get-GatewayLdapEscaped -Value ([string]$object.DistinguishedName)) + ')'
$below = [System.Collections.Generic.List[object]]::new()
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$children = @(Get-GatewayDeleted -Filter $filter -Server $Server)
foreach ($child in @(Select-GatewayDeleted -Found $children -Known $known @limits)) {
    $type = [string]$GatewayDeletedTypes[[string]$child.ObjectClass]
    if ($type -eq '') { $type = [string]$child.ObjectClass }
    $below.Add([ordered]@{ guid = [string]$child.ObjectGUID; type = [string]$type; name = [string](Get-GatewayFormerName -Object $child) })
}
$bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
$named = $null -ne $AllowedGroup -and $AllowedGroup.Length -gt 0
$groups = @(foreach ($dn in @($object.memberOf)) {
    if ($null -eq $dn) { continue }
    if ($named) {
        $filter = '(distinguishedName=' + (Get-GatewayLdapEscaped -Value ([string]$dn)) + ')'
        $base = (Get-GatewayDomain -Server $Server).dn
        $group = @(Get-GatewayObject -Class 'group' -Filter $filter -Base $base -Server $Server)
        if (@(Get-GatewayAllowedGroup -Group $group @limits).Length -gt 0) { [string]$dn }
        continue
    }
    if ($null -eq $bases -or (Test-GatewayWithin -Dn ([string]$dn) -Base $bases)) { [string]$dn }
})
$record = ConvertTo-GatewayDeleted -Object @($object) -Enabled $enabled -Known $known -Server $Server
$record['memberOf'] = [string[]]$groups
$record['children'] = $below.ToArray()
$record
