# Lists the members of a group, including those whose primary group it is. With Recursive, it also lists the members
# of nested groups, each once, with the shortest path. It reads the links of groups and never resolves members one
# by one (facts E23, E24).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $GroupName,
    [bool] $Recursive = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $MemberType,
    [int] $Limit = 0,
    [AllowNull()] [string] $After,
    [int] $AfterStart = 0,
    [bool] $Count = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

# The maximum numbers of levels and objects to follow.
$maxDepth = 20
$maxMembers = 100000

$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$group = Find-GatewayGroup -Identity $GroupName -Arg 'GroupName' @limits

Set-GatewayStep -Label 'list members' -Arg 'GroupName'
$listing = New-GatewayListing -Whole:($Limit -le 0)
$types = @{}
foreach ($type in @($MemberType)) { if ($type) { $types[$type] = $true } }
$seen = @{}
$seen[[string]$group.ObjectGUID] = $true
$level = @(@{ group = $group; via = '' })
for ($depth = 1; $depth -le $maxDepth -and $level.Length -gt 0; $depth++) {
    $next = [System.Collections.Generic.List[object]]::new()
    foreach ($branch in $level) {
        $found = [System.Collections.Generic.List[object]]::new()
        foreach ($member in @(Get-GatewayMember -Group $branch.group -Server $Server)) {
            $guid = [string]$member.ObjectGUID
            if ($seen.ContainsKey($guid)) { continue }
            if ($seen.Count -gt $maxMembers) {
                Stop-Gateway -Code 'unprocessable' -Arg 'GroupName' -Message "The group has more than $maxMembers members. Ask for the groups in it one by one."
            }
            $seen[$guid] = $true
            $found.Add($member)
        }
        $visible = @(Select-GatewaySeen -Found $found.ToArray() @limits)
        $kept = [System.Collections.Generic.List[object]]::new()
        foreach ($member in $visible) {
            $type = Get-GatewayObjectType -Class ([string]$member.ObjectClass)
            if ($Recursive -and $type -eq 'group') {
                $way = $branch.via
                if ($depth -eq 1) { $way = [string]$member.sAMAccountName }
                $next.Add(@{ group = $member; via = $way })
            }
            if ($types.Count -eq 0 -or $types.ContainsKey($type)) { $kept.Add($member) }
        }
        $records = @(ConvertTo-GatewayMember -Member $kept.ToArray() -Group $branch.group -Direct ($depth -eq 1) -Via $branch.via)
        Add-GatewayListing -Listing $listing -Item $kept.ToArray() -Record $records -ByGuid:($Limit -gt 0)
    }
    $level = @()
    if ($Recursive) { $level = $next.ToArray() }
}
if ($level.Length -gt 0) {
    Add-GatewayWarning -Code 'more' -Target $GroupName -Message "Groups nested more than $maxDepth levels deep were not followed."
}
Write-GatewayListingPage -Listing $listing -Limit $Limit -After $After -Count $Count
