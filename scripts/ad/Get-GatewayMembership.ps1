# Reads one membership of a user in a group.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $MemberName,
    [Parameter(Mandatory)] [string] $GroupName,
    [bool] $Recursive = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$member = Find-GatewayMember -Class 'user' -Identity $MemberName @limits
$group = Find-GatewayGroup -Identity $GroupName -Property $GatewayGroupProperties -Arg 'GroupName' @limits

Set-GatewayStep -Label 'read membership' -Arg 'GroupName'
$kind = Get-GatewayMembershipKind -Member $member -Group $group -Recursive $Recursive -Server $Server
if (-not $kind.member) {
    Stop-Gateway -Code 'not_found' -Arg 'GroupName' -Message "The user '$MemberName' is not a member of the group '$GroupName'."
}
ConvertTo-GatewayMembership -Group $group -Member $member -Kind $kind -AllowedOU $AllowedOU -Server $Server
