# Lists the members of a group, including those whose primary group it is. With Recursive, it also lists the members
# of nested groups, each once, with the shortest path. It reads the links of groups and never resolves each member
# separately (facts E23, E24).
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
$listing = New-GatewayListing -Most $Limit -First $After
$types = @{}
foreach ($type in @($MemberType)) { if ($type) { $types[$type] = $true } }
$seen = @{}
$seen[[string]$group.ObjectGUID] = $true
$next = [System.Collections.Generic.List[object]]::new()
$batch = [System.Collections.Generic.List[object]]::new()
$level = @(@{ group = $group; via = '' })
# Read the facts about limits before the members, because a read during the list would need a second connection
# (facts D19).
Select-GatewaySeen -Found @() @limits | Out-Null
for ($depth = 1; $depth -le $maxDepth -and $level.Length -gt 0; $depth++) {
    foreach ($branch in $level) {
        $add = @{
            Listing      = $listing
            Type         = $types
            Group        = $branch.group
            Direct       = [bool]($depth -eq 1)
            Via          = $branch.via
            AllowedGroup = $AllowedGroup
            AllowedOU    = $AllowedOU
            Server       = $Server
        }
        Get-GatewayMember -Group $branch.group -Server $Server | ForEach-Object -Process {
            $guid = [string]$_.ObjectGUID
            if (-not $seen.ContainsKey($guid)) {
                if ($seen.Count -gt $maxMembers) {
                    $message = "The group has more than $maxMembers members. Ask for the groups in it one by one."
                    Stop-Gateway -Code 'unprocessable' -Arg 'GroupName' -Message $message
                }
                $seen[$guid] = $true
                $batch.Add($_)
                if ($batch.Count -ge $GatewayBatchSize) {
                    foreach ($nested in @(Add-GatewayMemberListing -Member $batch.ToArray() @add)) { $next.Add($nested) }
                    $batch.Clear()
                }
            }
        }
        foreach ($nested in @(Add-GatewayMemberListing -Member $batch.ToArray() @add)) { $next.Add($nested) }
        $batch.Clear()
    }
    $level = @()
    if ($Recursive) { $level = $next.ToArray() }
    $next.Clear()
}
if ($level.Length -gt 0) {
    Add-GatewayWarning -Code 'more' -Target $GroupName -Message "Groups nested more than $maxDepth levels deep were not followed."
}
if ($Limit -gt 0 -and $Count) { $script:GatewayCounts['total'] = [int]$listing['count'] }
Write-GatewayListing -Listing $listing -Hold
