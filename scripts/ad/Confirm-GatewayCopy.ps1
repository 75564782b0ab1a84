# Returns which of the given groups contain a user, to settle a write that was cut off. The second GUID, or
# the only one, is the user's.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $Guids,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read memberships'
$userGuid = $Guids[0]
if ($Guids.Length -gt 1) { $userGuid = $Guids[1] }
$user = Find-GatewayAccount -Class 'user' -Identity $userGuid -Server $Server -Arg 'Guids' -Write
$userDn = [string]$user.DistinguishedName
for ($i = 0; $i -lt $Guids.Length; $i++) {
    if ($Guids.Length -eq 1 -or $i -eq 1) {
        [ordered]@{ guid = [string]$userGuid; dn = [string]$userDn; age = [int]0; state = [ordered]@{ exists = 'True' }; record = $null }
        continue
    }
    $group = Find-GatewayAccount -Class 'group' -Identity $Guids[$i] -Server $Server -Arg 'Guids' -Write
    $groupDn = [string]$group.DistinguishedName
    $member = Test-GatewayMemberOf -MemberDn $userDn -GroupDn $groupDn -Server $Server
    $action = 'failed'
    if ($member) { $action = 'present' }
    $record = ConvertTo-GatewayCopied -Group $group -Action $action -Reason ''
    [ordered]@{
        guid   = [string]$group.ObjectGUID
        dn     = [string]$groupDn
        age    = [int]0
        state  = [ordered]@{ exists = 'True'; member = [string][bool]$member }
        record = $record
    }
}
