# Returns which objects are members of a group, with the record of a change of its members, to settle a write that
# was cut off. The first GUID is the group. The others are the members that were to be added or removed.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $Guids,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read members'
$group = Find-GatewayAccount -Class 'group' -Identity $Guids[0] -Property $GatewayGroupProperties -Server $Server -Arg 'Guids' -Write
$others = [string[]]@(foreach ($guid in $Guids) { if ($guid -ne $Guids[0]) { $guid } })
$members = @{}
foreach ($item in @(Select-GatewayPresent -Group $group -Guid $others -Server $Server)) { $members[[string]$item.ObjectGUID] = $item }
$state = [ordered]@{ exists = 'True' }
$left = @()
$there = @(foreach ($guid in $others) { if ($members.ContainsKey($guid)) { $members[$guid] } })
if ($others.Length -gt 0) {
    $known = Find-GatewayNamed -Identity $others -Server $Server
    foreach ($guid in $others) {
        $state['member:' + $guid] = [string]$members.ContainsKey($guid)
        if (-not $members.ContainsKey($guid)) { $left += @($known[$guid]) }
    }
}
$record = ConvertTo-GatewayMemberChange -Group $group -Added $there -Removed $left -AllowedOU $AllowedOU -Server $Server
[ordered]@{ guid = [string]$group.ObjectGUID; dn = [string]$group.DistinguishedName; age = [int]0; state = $state; record = $record }
foreach ($guid in $others) {
    [ordered]@{ guid = [string]$guid; dn = ''; age = [int]0; state = [ordered]@{ exists = 'True' }; record = $null }
}
