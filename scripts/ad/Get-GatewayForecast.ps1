# Reads facts about a change that its announcement does not contain: the attributes of objects that the gateway's
# account may write, the classes that it may create in containers, the time for which removed objects can be
# restored, whether names in other domains of the forest are known, and the policy for a password.
[CmdletBinding()]
param(
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Written, # GUIDs
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Container, # distinguished names
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Listed, # GUIDs of objects whose access lists are written
    [bool] $Removal = $false,
    [bool] $Forest = $false,
    [bool] $Password = $false,
    [AllowNull()] [string] $Guid, # of the user whose password is set; absent for a new user
    [Parameter(Mandatory)] [string] $Server
)

$root = (Get-GatewayDomain -Server $Server).dn
Set-GatewayStep -Label 'read rights'
if ($null -ne $Written -and $Written.Length -gt 0) {
    foreach ($object in @(Get-GatewayObjectAgain -Guid $Written -Property @('allowedAttributesEffective') -Base $root -Server $Server)) {
        # Without any right, the attribute is absent (facts P12).
        $allowed = @(foreach ($attribute in @($object.allowedAttributesEffective)) { if ($null -ne $attribute) { [string]$attribute } })
        [ordered]@{ about = 'object'; name = [string]$object.ObjectGUID; allowed = [string[]]$allowed }
    }
}
if ($null -ne $Listed -and $Listed.Length -gt 0) {
    foreach ($object in @(Get-GatewayObjectAgain -Guid $Listed -Property @('sDRightsEffective') -Base $root -Server $Server)) {
        # A protection consists of an entry in the object's access list and one in the list of its parent
        # (facts E37).
        $parent = Get-GatewayParentDn -Dn ([string]$object.DistinguishedName)
        $search = @{ Class = 'any'; Filter = '(objectClass=*)'; Scope = 'Base'; Property = @('sDRightsEffective'); Server = $Server }
        $above = @(Get-GatewayObject -Base $parent @search)[0]
        $allowed = [System.Collections.Generic.List[string]]::new()
        if (([long]$object.sDRightsEffective -band 4) -ne 0) { $allowed.Add('object') }
        if (([long]$above.sDRightsEffective -band 4) -ne 0) { $allowed.Add('parent') }
        [ordered]@{ about = 'list'; name = [string]$object.ObjectGUID; allowed = $allowed.ToArray() }
    }
}
foreach ($dn in @($Container)) {
    if (-not $dn) { continue }
    $search = @{ Filter = '(distinguishedName=' + (Get-GatewayLdapEscaped -Value $dn) + ')'; Property = @('allowedChildClassesEffective') }
    foreach ($object in @(Get-GatewayObject -Class 'any' -Base $root -Server $Server @search)) {
        $allowed = @(foreach ($class in @($object.allowedChildClassesEffective)) { if ($null -ne $class) { [string]$class } })
        [ordered]@{ about = 'container'; name = [string]$dn; allowed = [string[]]$allowed }
    }
}
if ($Removal) {
    Set-GatewayStep -Label 'read Recycle Bin'
    [ordered]@{ about = 'bin'; name = ''; days = [int](Get-GatewayLifetime -Server $Server)['deleted'] }
}
if ($Forest) {
    Set-GatewayStep -Label 'read forest'
    $state = 'unreadable'
    if ($null -ne (Get-GatewayPartition -Server $Server)) {
        $state = 'known'
        if (@(Get-GatewayOtherDomain -Server $Server).Length -gt 0 -and -not (Test-GatewayCatalog -Server $Server)) { $state = 'no catalog' }
    }
    [ordered]@{ about = 'forest'; name = [string]$state }
}
if ($Password) {
    Set-GatewayStep -Label 'read policy'
    $user = $null
    if ($Guid) {
        $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Guid)) + ')'
        $search = @{ Class = 'user'; Property = @('msDS-ResultantPSO', 'displayName', 'userAccountControl'); Base = $root; Server = $Server }
        $user = @(Get-GatewayObject -Filter $filter @search)[0]
    }
    $policy = Get-GatewayPolicy -User $user -Server $Server
    $record = [ordered]@{ about = 'policy'; name = [string]$policy['name']; source = [string]$policy['source'] }
    if ($policy['source'] -ne 'unknown') {
        $record['minLength'] = [int]$policy['minLength']
        $record['complexity'] = [bool]$policy['complexity']
    }
    if ($null -ne $user) {
        $record['account'] = [string]$user.SamAccountName
        $record['displayName'] = [string]$user.displayName
        $record['exempt'] = ([long]$user.userAccountControl -band 0x20) -ne 0 # facts H27
    }
    $record
}
