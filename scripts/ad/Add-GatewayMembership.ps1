# Adds a user or a group to a group.
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

# Guard. The directory itself allows cycles (facts E29), in which every group would get the members of all the
# others. It checks the nesting rules of scopes, and reports a violation with an error number.
Assert-GatewayPrivilege -Object $group -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'GroupName'
Set-GatewayStep -Label 'read membership' -Arg 'GroupName'
$kind = Get-GatewayMembershipKind -Member $member -Group $group -Server $Server
$absent = -not $kind.member
# Add-ADGroupMember looks for members in the domain of the group only.
$foreign = Test-GatewayForeign -Dn $memberDn -Server $Server
if ($absent -and $foreign) { Assert-GatewayNesting -Group $group -Member @($member) -Server $Server }
if ($absent -and $MemberClass -eq 'group') {
    if ($groupGuid -eq $memberGuid) {
        Stop-Gateway -Code 'unprocessable' -Arg 'MemberName' -Message "The group '$memberDn' cannot be a member of itself."
    }
    if (Test-GatewayMemberOf -MemberDn $groupDn -GroupDn $memberDn -Server $Server -Chain) {
        $ring = "The group '$groupDn' is nested in '$memberDn' already: adding it the other way round would form a ring."
        Stop-Gateway -Code 'unprocessable' -Arg 'MemberName' -Message $ring
    }
}

# Announce.
New-GatewayIntent -Guid $groupGuid -Dn $groupDn -Account ([string]$group.SamAccountName) -Of $group
Add-GatewayIntent -Name 'member' -Before ([string][bool]$kind.member) -After 'True'
New-GatewayIntent -Guid $memberGuid -Dn $memberDn -Account ([string]$member.SamAccountName) -Of $member
Write-GatewayIntent -Effect 'created'

# Act.
if ($absent) {
    Set-GatewayStep -Label 'add member' -Arg 'GroupName'
    try {
        if ($foreign) {
            Set-ADGroup -Identity $groupGuid -Add @{ member = $memberDn } -Server $Server -Confirm:$false
        } else {
            Add-ADGroupMember -Identity $groupGuid -Members $memberGuid -Server $Server -Confirm:$false
        }
        Complete-GatewayStep -Label 'add member' -Guid $groupGuid -Dn $groupDn
    } catch {
        # It is a member already, because another writer was faster (facts D18).
        if (@('1320', '1378') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
        $absent = $false
    }
}
if ($absent) {
    Complete-GatewayChange -Effect 'created'
    Add-GatewayChange -Guid $groupGuid -Dn $groupDn -Before $null -After ([ordered]@{ member = $memberDn })
}

# Report.
$read = Find-GatewayAccount -Class 'group' -Identity $groupGuid -Property $GatewayGroupProperties -Arg 'GroupName' -Write @limits
$kind = Get-GatewayMembershipKind -Member $member -Group $read -Server $Server
ConvertTo-GatewayMembership -Group $read -Member $member -Kind $kind -AllowedOU $AllowedOU -Server $Server
