# Adds members of any class to a group, removes them, or replaces all members of the group with the given ones. It
# is one change of the group, which is made completely or not at all.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [ValidateSet('Add', 'Remove', 'Set')] [string] $Mode,
    [Parameter(Mandatory)] [string] $GroupName,
    [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Members,
    [Parameter(Mandatory)] [int] $BulkLimit,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $RemovedTogether,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$group = Find-GatewayGroup -Identity $GroupName -Property $GatewayGroupProperties -Arg 'GroupName' -Write @limits
$groupGuid = [string]$group.ObjectGUID
$groupDn = [string]$group.DistinguishedName
$named = @(Find-GatewayMembers -Identity $Members @limits)
Set-GatewayStep -Label 'read members' -Arg 'GroupName'
$guids = [string[]]@(foreach ($item in $named) { [string]$item.ObjectGUID })
if ($Mode -eq 'Set') {
    $all = @(Get-GatewayMember -Group $group -Property $GatewayMemberChecked -Server $Server -All)
    $stored = @(Select-GatewaySeen -Found $all @limits)
} else {
    $stored = @(Select-GatewayPresent -Group $group -Guid $guids -Server $Server)
}
$isStored = @{}
foreach ($item in $stored) { $isStored[[string]$item.ObjectGUID] = $true }
$isNamed = @{}
foreach ($guid in $guids) { $isNamed[$guid] = $true }
$added = @()
$removed = @()
if ($Mode -ne 'Remove') { $added = @(foreach ($item in $named) { if (-not $isStored.ContainsKey([string]$item.ObjectGUID)) { $item } }) }
if ($Mode -eq 'Remove') { $removed = @($stored) }
if ($Mode -eq 'Set') { $removed = @(foreach ($item in $stored) { if (-not $isNamed.ContainsKey([string]$item.ObjectGUID)) { $item } }) }

# Guard.
Assert-GatewayPrivilege -Object $group -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'GroupName'
Assert-GatewayMembersPrivilege -Member ($added + $removed) -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server
Assert-GatewayNesting -Group $group -Member $added -Server $Server
$sid = Get-GatewaySid -Object $group
$primary = @(foreach ($item in $removed) {
        if (-not (Test-GatewayPrimary -Sid $sid -Member $item)) { continue }
        "'$groupDn' is the primary group of '$([string]$item.DistinguishedName)'. Nobody leaves a primary group. Set another one first: $GatewayPrimaryCall."
    })
Stop-GatewayProblem -Code 'conflict' -Problem $primary
$counted = @(foreach ($item in $removed) { if (@($RemovedTogether) -notcontains [string]$item.ObjectGUID) { $item } })
if ($counted.Length -gt $BulkLimit) {
    $message = "$($counted.Length) members would be removed; one request removes at most $BulkLimit. Nothing was changed."
    Stop-Gateway -Code 'too_many' -Arg 'Members' -Message $message
}

# Announce.
$effect = 'changed'
if ($Mode -eq 'Add') { $effect = 'created' }
if ($Mode -eq 'Remove') { $effect = 'removed' }
if ($Mode -eq 'Set') {
    $script:GatewayCounts['added members'] = [int]$added.Length
    $script:GatewayCounts['removed members'] = [int]$removed.Length
} else {
    $script:GatewayCounts['members'] = [int]($added.Length + $removed.Length)
}
New-GatewayIntent -Guid $groupGuid -Dn $groupDn -Account ([string]$group.SamAccountName) -Of $group
foreach ($item in $added) { Add-GatewayIntent -Name ('member:' + [string]$item.ObjectGUID) -Before 'False' -After 'True' }
foreach ($item in $removed) { Add-GatewayIntent -Name ('member:' + [string]$item.ObjectGUID) -Before 'True' -After 'False' }
foreach ($item in ($added + $removed)) {
    $names = @{ Dn = [string]$item.DistinguishedName; Account = [string]$item.SamAccountName }
    New-GatewayIntent -Guid ([string]$item.ObjectGUID) -Of $item @names
}
Write-GatewayIntent -Effect $effect

# Act.
$new = [string[]]@(foreach ($item in $added) { [string]$item.DistinguishedName })
$old = [string[]]@(foreach ($item in $removed) { [string]$item.DistinguishedName })
if ($new.Length + $old.Length -gt 0) {
    Set-GatewayStep -Label 'change members' -Arg 'Members'
    try {
        if ($old.Length -eq 0) {
            Set-ADGroup -Identity $groupGuid -Add @{ member = $new } -Server $Server -Confirm:$false
        } elseif ($new.Length -eq 0) {
            Set-ADGroup -Identity $groupGuid -Remove @{ member = $old } -Server $Server -Confirm:$false
        } else {
            Set-ADGroup -Identity $groupGuid -Add @{ member = $new } -Remove @{ member = $old } -Server $Server -Confirm:$false
        }
        Complete-GatewayStep -Label 'change members' -Guid $groupGuid -Dn $groupDn
    } catch {
        # It is a member already, or no longer one, because another writer was faster (facts D18).
        if (@('1320', '1321', '1377', '1378') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
        $message = "The members of the group '$groupDn' were changed meanwhile, and nothing was changed. Try again."
        Stop-Gateway -Code 'conflict' -Arg 'GroupName' -Message $message
    }
    Complete-GatewayChange -Effect $effect
    Add-GatewayChange -Guid $groupGuid -Dn $groupDn -Before ([ordered]@{ member = $old }) -After ([ordered]@{ member = $new })
}

# Report.
$read = Find-GatewayAccount -Class 'group' -Identity $groupGuid -Property $GatewayGroupProperties -Arg 'GroupName' -Write @limits
ConvertTo-GatewayMemberChange -Group $read -Added $added -Removed $removed -AllowedOU $AllowedOU -Server $Server
