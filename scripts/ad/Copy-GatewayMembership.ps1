# Adds a user to the groups of which another user is a direct member. With Remove, it also removes the user from the
# groups in which the other user is not, except the primary group. Guarded groups are skipped unless the caller asks
# for them. If a change fails, the script continues with the others.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [Parameter(Mandatory)] [string] $From,
    [bool] $Remove = $false,
    [bool] $IncludePrivileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$account = @{ Class = 'user'; Property = @('primaryGroupID'); AllowedOU = $AllowedOU; Server = $Server }
$user = Find-GatewayAccount -Identity $UserName -Arg 'UserName' -Write @account
$userGuid = [string]$user.ObjectGUID
$userDn = [string]$user.DistinguishedName
Set-GatewayStep -Label 'find other user' -Arg 'From'
$other = Find-GatewayAccount -Identity $From -Arg 'From' -Write -Quiet @account
if ($null -eq $other) {
    $message = "The user '$From' was not found" + (Get-GatewayScopeText -AllowedOU $AllowedOU) +
        '. It is looked for by GUID, SID, distinguished name and account name.'
    Stop-Gateway -Code 'unprocessable' -Arg 'From' -Message $message
}
Set-GatewayStep -Label 'list groups'
$search = @{ Class = 'group'; Property = $GatewayGroupProperties; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
$wanted = @(Get-GatewayObject -Filter ('(member=' + (Get-GatewayLdapEscaped -Value ([string]$other.DistinguishedName)) + ')') @search)
$wanted = @(Get-GatewayAllowedGroup -Group $wanted @limits)
$stored = @(Get-GatewayObject -Filter ('(member=' + (Get-GatewayLdapEscaped -Value $userDn) + ')') @search)
$stored = @(Get-GatewayAllowedGroup -Group $stored @limits)
$primary = Get-GatewayPrimaryGroupDn -Member $user -Server $Server

# Guard. Each group is decided separately. Guarded groups are skipped instead of refused.
$has = @{}
foreach ($group in $stored) { $has[[string]$group.ObjectGUID] = $true }
$keeps = @{}
$plan = [System.Collections.Generic.List[object]]::new()
foreach ($group in (Get-GatewaySorted -Items $wanted -Server $Server)) {
    $guid = [string]$group.ObjectGUID
    $keeps[$guid] = $true
    $isPrimary = [string]::Equals([string]$group.DistinguishedName, $primary, [System.StringComparison]::OrdinalIgnoreCase)
    if ($has.ContainsKey($guid) -or $isPrimary) {
        $plan.Add(@{ group = $group; action = 'present'; reason = '' })
        continue
    }
    $reason = ''
    if (-not $IncludePrivileged) { $reason = [string](Get-GatewayGuardReason -Object $group -GuardedGroup $GuardedGroup -Server $Server) }
    $action = 'added'
    if ($reason -ne '') { $action = 'skipped' }
    $plan.Add(@{ group = $group; action = $action; reason = $reason })
}
if ($Remove) {
    foreach ($group in (Get-GatewaySorted -Items $stored -Server $Server)) {
        if ($keeps.ContainsKey([string]$group.ObjectGUID)) { continue }
        $reason = ''
        if (-not $IncludePrivileged) { $reason = [string](Get-GatewayGuardReason -Object $group -GuardedGroup $GuardedGroup -Server $Server) }
        $action = 'removed'
        if ($reason -ne '') { $action = 'skipped' }
        $plan.Add(@{ group = $group; action = $action; reason = $reason })
    }
}
$changes = @(foreach ($entry in $plan) { if (@('added', 'removed') -contains $entry.action) { $entry } })

# Announce. The member is the second object, as in a change of one membership.
$told = $false
foreach ($entry in $changes) {
    $adds = $entry.action -eq 'added'
    $names = @{ Dn = [string]$entry.group.DistinguishedName; Account = [string]$entry.group.SamAccountName }
    New-GatewayIntent -Guid ([string]$entry.group.ObjectGUID) -Of $entry.group @names
    Add-GatewayIntent -Name 'member' -Before ([string](-not $adds)) -After ([string]$adds)
    if (-not $told) { New-GatewayIntent -Guid $userGuid -Dn $userDn -Of $user }
    $told = $true
}
if (-not $told) { New-GatewayIntent -Guid $userGuid -Dn $userDn -Of $user }
Write-GatewayIntent -Effect 'changed'

# Act.
$done = 0
foreach ($entry in $changes) {
    $groupGuid = [string]$entry.group.ObjectGUID
    $groupDn = [string]$entry.group.DistinguishedName
    Set-GatewayStep -Label 'change member' -Arg 'UserName'
    try {
        if ($entry.action -eq 'added') {
            Add-ADGroupMember -Identity $groupGuid -Members $userGuid -Server $Server -Confirm:$false
        } else {
            Remove-ADGroupMember -Identity $groupGuid -Members $userGuid -Server $Server -Confirm:$false
        }
        Complete-GatewayStep -Label 'change member' -Guid $groupGuid -Dn $groupDn
        $done++
        if ($entry.action -eq 'added') {
            Add-GatewayChange -Guid $groupGuid -Dn $groupDn -Before $null -After ([ordered]@{ member = [string]$userDn })
        } else {
            Add-GatewayChange -Guid $groupGuid -Dn $groupDn -Before ([ordered]@{ member = [string]$userDn }) -After $null
        }
    } catch {
        # It is a member already, or no longer one, because another writer was faster (facts D18).
        if (@('1320', '1377', '1378') -contains (Get-GatewayErrorCode -Record $_)) {
            $entry['action'] = 'present'
        } else {
            Add-GatewayFailure -Record $_ -Guid $groupGuid -Dn $groupDn
            $entry['action'] = 'failed'
            $entry['reason'] = 'the directory refused it'
        }
    }
}
if ($done -gt 0) { Complete-GatewayChange -Effect 'changed' }

# Report.
foreach ($entry in $plan) { ConvertTo-GatewayCopied -Group $entry.group -Action $entry.action -Reason $entry.reason }
