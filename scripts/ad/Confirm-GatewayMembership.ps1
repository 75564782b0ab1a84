# Returns whether an object is a member of a group, with the record of the membership, to settle a write
# that was cut off. Group and member are given by GUID.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [ValidateSet('user', 'group')] [string] $MemberClass,
    [Parameter(Mandatory)] [string[]] $Guids,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read membership'
$group = Find-GatewayAccount -Class 'group' -Identity $Guids[0] -Property $GatewayGroupProperties -Server $Server -Arg 'Guids' -Write
$member = Find-GatewayMember -Class $MemberClass -Identity $Guids[1] -Server $Server -Write
$kind = Get-GatewayMembershipKind -Member $member -Group $group -Server $Server
$record = ConvertTo-GatewayMembership -Group $group -Member $member -Kind $kind -AllowedOU $AllowedOU -Server $Server
[ordered]@{
    guid   = [string]$group.ObjectGUID
    dn     = [string]$group.DistinguishedName
    age    = 0
    state  = [ordered]@{ exists = 'True'; member = [string][bool]$kind.member }
    record = $record
}
