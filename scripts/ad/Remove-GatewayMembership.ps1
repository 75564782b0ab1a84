# Removes a user or a group from a group.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [ValidateSet('user', 'group')] [string] $MemberClass,
    [Parameter(Mandatory)] [string] $MemberName,
    [Parameter(Mandatory)] [string] $GroupName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$member = Find-GatewayMember -Class $MemberClass -Identity $MemberName -Write @limits
$group = Find-GatewayGroup -Identity $GroupName -Property $GatewayGroupProperties -Arg 'GroupName' -Write @limits
$memberGuid = [string]$member.ObjectGUID
$memberDn = [string]$member.DistinguishedName
$groupGuid = [string]$group.ObjectGUID
$groupDn = [string]$group.DistinguishedName

# Guard.
Assert-GatewayPrivilege -Object $group -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'GroupName'
Set-GatewayStep -Label 'read membership' -Arg 'GroupName'
$kind = Get-GatewayMembershipKind -Member $member -Group $group -Server $Server
if ($kind.primary) {
    $message = "'$groupDn' is the primary group of '$memberDn'. Nobody leaves a primary group. Set another one first: $GatewayPrimaryCall."
    Stop-Gateway -Code 'conflict' -Arg 'GroupName' -Message $message
}

# Announce.
New-GatewayIntent -Guid $groupGuid -Dn $groupDn -Account ([string]$group.SamAccountName) -Of $group
Add-GatewayIntent -Name 'member' -Before ([string][bool]$kind.member) -After 'False'
New-GatewayIntent -Guid $memberGuid -Dn $memberDn -Account ([string]$member.SamAccountName) -Of $member
Write-GatewayIntent -Effect 'removed'

# Act.
$present = [bool]$kind.member
if ($present) {
    Set-GatewayStep -Label 'remove member' -Arg 'GroupName'
    try {
        if (Test-GatewayForeign -Dn $memberDn -Server $Server) { # Remove-ADGroupMember looks for members in the domain only
            Set-ADGroup -Identity $groupGuid -Remove @{ member = $memberDn } -Server $Server -Confirm:$false
        } else {
            Remove-ADGroupMember -Identity $groupGuid -Members $memberGuid -Server $Server -Confirm:$false
        }
        Complete-GatewayStep -Label 'remove member' -Guid $groupGuid -Dn $groupDn
    } catch {
        # It is no longer a member, because another writer was faster (facts D18).
        if (@('1321', '1377') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
        $present = $false
    }
}
if ($present) {
    Complete-GatewayChange -Effect 'removed'
    Add-GatewayChange -Guid $groupGuid -Dn $groupDn -Before ([ordered]@{ member = $memberDn }) -After $null
}

# Report.
$read = Find-GatewayAccount -Class 'group' -Identity $groupGuid -Property $GatewayGroupProperties -Arg 'GroupName' -Write @limits
$kind = Get-GatewayMembershipKind -Member $member -Group $read -Server $Server
ConvertTo-GatewayMembership -Group $read -Member $member -Kind $kind -AllowedOU $AllowedOU -Server $Server
