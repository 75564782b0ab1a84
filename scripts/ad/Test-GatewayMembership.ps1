# Returns whether a user or a group is a member of a group. Both must exist.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [ValidateSet('user', 'group')] [string] $MemberClass,
    [Parameter(Mandatory)] [string] $MemberName,
    [Parameter(Mandatory)] [string] $GroupName,
    [bool] $Recursive = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$member = Find-GatewayMember -Class $MemberClass -Identity $MemberName @limits
$group = Find-GatewayGroup -Identity $GroupName -Arg 'GroupName' @limits

Set-GatewayStep -Label 'read membership' -Arg 'GroupName'
$kind = Get-GatewayMembershipKind -Member $member -Group $group -Recursive $Recursive -Server $Server
[ordered]@{ exists = [bool]$kind.member; guid = [string]$member.ObjectGUID; distinguishedName = [string]$member.DistinguishedName }
