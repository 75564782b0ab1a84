# Lists the groups of a user: the direct groups and the primary group, and with Recursive also the nested groups.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $MemberName,
    [bool] $Recursive = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$member = Find-GatewayMember -Class 'user' -Identity $MemberName @limits

Set-GatewayStep -Label 'list groups'
$search = @{ Class = 'group'; Property = $GatewayGroupProperties; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
$memberDn = Get-GatewayLdapEscaped -Value ([string]$member.DistinguishedName)
$primaryDn = Get-GatewayPrimaryGroupDn -Member $member -Server $Server
$primaryEscaped = Get-GatewayLdapEscaped -Value $primaryDn

# Each group is listed once. A direct membership takes precedence over a nested one.
$direct = '(member=' + $memberDn + ')'
if ($primaryDn -ne '') { $direct = '(|' + $direct + '(distinguishedName=' + $primaryEscaped + '))' }
$kinds = @{}
$found = [System.Collections.Generic.List[object]]::new()
foreach ($group in @(Get-GatewayObject -Filter $direct @search)) {
    $primary = [string]::Equals([string]$group.DistinguishedName, $primaryDn, [System.StringComparison]::OrdinalIgnoreCase)
    $kinds[[string]$group.ObjectGUID] = @{ direct = $true; primary = $primary }
    $found.Add($group)
}
if ($Recursive) {
    $chain = '(member:' + $GatewayInChain + ':='
    $nested = $chain + $memberDn + ')'
    if ($primaryDn -ne '') { $nested = '(|' + $nested + $chain + $primaryEscaped + '))' }
    foreach ($group in @(Get-GatewayObject -Filter $nested @search)) {
        if (-not $kinds.ContainsKey([string]$group.ObjectGUID)) {
            $kinds[[string]$group.ObjectGUID] = @{ direct = $false; primary = $false }
            $found.Add($group)
        }
    }
}
$allowed = @(Get-GatewayAllowedGroup -Group $found.ToArray() @limits)
foreach ($group in (Get-GatewaySorted -Items $allowed -Server $Server)) {
    ConvertTo-GatewayMembership -Group $group -Member $member -Kind $kinds[[string]$group.ObjectGUID] -AllowedOU $AllowedOU -Server $Server
}
