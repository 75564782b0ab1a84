# Functions shared by the scripts that change several members of a group at once.

# The properties that are needed to check and show members.
$GatewayMemberChecked = $GatewayGuardProperties + @('objectSid', 'userAccountControl', 'groupType', 'userPrincipalName')

# Finds objects by names of members, first in the domain, and those that the domain lacks in the other domains of
# the forest. Returns a table with the objects of each name.
function Find-GatewayNamed {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Identity,
        [Parameter(Mandatory)] [string] $Server
    )
    $search = @{ Property = $GatewayMemberChecked; Server = $Server }
    $found = Find-GatewayInDomain -Identity $Identity -Domain (Get-GatewayDomain -Server $Server) @search
    if (@(Get-GatewayOtherDomain -Server $Server).Length -eq 0) { return $found }
    $absent = [string[]]@(foreach ($one in $Identity) { if (@($found[$one]).Length -eq 0) { $one } })
    if ($absent.Length -eq 0 -or -not (Test-GatewayCatalog -Server $Server)) { return $found }
    $foreign = Find-GatewayForeign -Identity $absent @search
    foreach ($one in @($foreign.Keys)) { $found[$one] = @($foreign[$one]) }
    $found
}

# Returns the objects that have the given name. Account is the account name in it. The directory ignores
# diacritics (KB 938447), so an account must be named exactly, except for case. An account with exactly this name
# takes precedence over one that has it with a final $.
function Select-GatewayNamed {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Object,
        [Parameter(Mandatory)] [string] $Identity,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Account
    )
    $any = [System.StringComparison]::OrdinalIgnoreCase
    $bare = $Identity -replace '^\{(.*)\}$', '$1'
    $short = @()
    $exact = @()
    foreach ($item in $Object) {
        $sam = [string]$item.sAMAccountName
        if ($bare.Equals([string]$item.ObjectGUID, $any) -or $Identity.Equals([string]$item.objectSid, $any)) { return $item }
        if ($Identity.Equals([string]$item.DistinguishedName, $any)) { return $item }
        if ($sam -eq '' -or $Account -eq '') { continue }
        if ($sam.Equals($Account, $any)) { $exact += $item }
        if ($sam.Equals($Account + '$', $any)) { $short += $item }
    }
    if ($exact.Length -gt 0) { return $exact }
    $short
}

# Finds the members that a request names, each once, within the caller's limits. Ends the request with all names
# that match no object, more than one object, or an object that cannot be a member.
function Find-GatewayMembers {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Identity,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'find members' -Arg 'Members'
    $limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
    $within = Get-GatewayScopeText -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU
    $catalog = ''
    if (@(Get-GatewayOtherDomain -Server $Server).Length -gt 0 -and -not (Test-GatewayCatalog -Server $Server)) {
        $catalog = " Members of other domains cannot be found, because $Server has no global catalog."
    }
    $problems = [System.Collections.Generic.List[string]]::new()
    $known = @{}
    $named = Find-GatewayNamed -Identity $Identity -Server $Server
    $members = [System.Collections.Generic.List[object]]::new()
    foreach ($name in $Identity) {
        $all = @($named[$name])
        $seen = @(Select-GatewaySeen -Found $all @limits)
        if ($seen.Length -lt $all.Length) { $script:GatewayOutside = $true }
        if ($seen.Length -eq 0) {
            $problems.Add("The member '$name' was not found" + $within + '.' + $catalog)
            continue
        }
        if ($seen.Length -gt 1) {
            $choice = @(foreach ($item in $seen) { [string]$item.DistinguishedName }) -join "', '"
            $problems.Add("The member '$name' may be several objects. Use one of the distinguished names: '$choice'.")
            continue
        }
        if ((Get-GatewayObjectType -Class ([string]$seen[0].ObjectClass)) -eq 'other') {
            $problems.Add("'$name' is of the class $([string]$seen[0].ObjectClass), which no group holds.")
            continue
        }
        $guid = [string]$seen[0].ObjectGUID
        if (-not $known.ContainsKey($guid)) { $members.Add($seen[0]) }
        $known[$guid] = $true
    }
    Stop-GatewayProblem -Code 'unprocessable' -Problem $problems.ToArray()
    $members.ToArray()
}

# Ends the request with all problems with members, if there are any.
function Stop-GatewayProblem {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Code,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Problem
    )
    if ($Problem.Length -eq 0) { return }
    if ($Problem.Length -eq 1) { Stop-Gateway -Code $Code -Arg 'Members' -Message $Problem[0] }
    $message = "Nothing was changed, because of $($Problem.Length) members; see details."
    Stop-Gateway -Code $Code -Arg 'Members' -Message $message -Detail $Problem
}

# Returns the objects that are members of a group, by its links or because it is their primary group (facts E18).
function Select-GatewayPresent {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Guid,
        [Parameter(Mandatory)] [string] $Server
    )
    $rid = [long]((Get-GatewaySid -Object $Group) -replace '^.*-', '')
    $belongs = '(|(memberOf=' + (Get-GatewayLdapEscaped -Value ([string]$Group.DistinguishedName)) + ')(primaryGroupID=' + $rid + '))'
    $terms = [System.Collections.Generic.List[string]]::new()
    $wanted = @{}
    $left = $Guid.Length
    foreach ($one in $Guid) {
        $wanted[$one] = $true
        $terms.Add('(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$one)) + ')')
        $left--
        if ($terms.Count -lt 100 -and $left -gt 0) { continue }
        $search = @{ Filter = ('(&' + $belongs + '(|' + ($terms -join '') + '))'); Property = $GatewayMemberChecked; Server = $Server }
        Get-GatewayObject -Class 'any' -Base (Get-GatewayDomain -Server $Server).dn @search
        $terms.Clear()
    }
    foreach ($item in @(Get-GatewayForeignMember -Group $Group -Property $GatewayMemberChecked -Server $Server)) {
        if ($wanted.ContainsKey([string]$item.ObjectGUID)) { $item }
    }
}

# Bits of groupType (facts E34).
$GatewayGroupLocal = 4
$GatewayGroupUniversal = 8
$GatewayGroupBuiltIn = 1

# Returns the rule of scopes that keeps an object out of a group (facts E.2), or '' if there is none.
function Get-GatewayNestingBar {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Group, [Parameter(Mandatory)] [object] $Member, [Parameter(Mandatory)] [string] $Server)
    $scope = [string]$Group.GroupScope
    $class = [string]$Member.ObjectClass
    $foreign = Test-GatewayForeign -Dn ([string]$Member.DistinguishedName) -Server $Server
    if ($foreign -and $scope -eq 'Global') { return 'A global group cannot have a member of another domain.' }
    if ($class -eq 'foreignSecurityPrincipal') {
        if ($scope -eq 'Global') { return 'A global group cannot have a member of another domain.' }
        if ($scope -eq 'Universal') { return 'A universal group cannot have a foreign security principal as a member.' }
        return ''
    }
    if ($class -ne 'group') { return '' }
    $type = [long]$Member.groupType
    $local = ($type -band $GatewayGroupLocal) -ne 0
    if ($foreign -and $local -and $scope -eq 'DomainLocal') { return 'A domain local group is a member in its own domain only.' }
    if ($scope -eq 'Global' -and $local) { return 'A global group cannot have a domain local group as a member.' }
    if ($scope -eq 'Global' -and ($type -band $GatewayGroupUniversal) -ne 0) { return 'A global group cannot have a universal group as a member.' }
    if ($scope -eq 'Universal' -and $local) { return 'A universal group cannot have a domain local group as a member.' }
    if ($scope -eq 'DomainLocal' -and ($type -band $GatewayGroupBuiltIn) -ne 0) { return 'A built-in group cannot be a member of another group.' }
    ''
}

# Refuses members that a group cannot have because of the rules of scopes, or because the group would contain
# itself. The directory allows cycles (facts E29), in which every group would get the members of all the others.
function Assert-GatewayNesting {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Member,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'check members' -Arg 'Members'
    $groupDn = [string]$Group.DistinguishedName
    $problems = [System.Collections.Generic.List[string]]::new()
    foreach ($item in $Member) {
        $dn = [string]$item.DistinguishedName
        $bar = Get-GatewayNestingBar -Group $Group -Member $item -Server $Server
        if ($bar -ne '') {
            $problems.Add("'$dn' cannot be a member of '$groupDn': " + $bar)
            continue
        }
        if ([string]$item.ObjectClass -ne 'group') { continue }
        if ([string]$item.ObjectGUID -eq [string]$Group.ObjectGUID) {
            $problems.Add("The group '$groupDn' cannot be a member of itself.")
        } elseif (Test-GatewayMemberOf -MemberDn $groupDn -GroupDn $dn -Server $Server -Chain) {
            $problems.Add("The group '$groupDn' is nested in '$dn' already: adding it the other way round would form a ring.")
        }
    }
    Stop-GatewayProblem -Code 'unprocessable' -Problem $problems.ToArray()
}

# Refuses to add or to remove guarded members unless the caller is privileged.
function Assert-GatewayMembersPrivilege {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Member,
        [Parameter(Mandatory)] [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($Privileged) { return }
    Set-GatewayStep -Label 'check privilege' -Arg 'Members'
    $problems = [System.Collections.Generic.List[string]]::new()
    foreach ($item in $Member) {
        $why = Get-GatewayGuardReason -Object $item -GuardedGroup $GuardedGroup -Server $Server
        if ($why -ne '') { $problems.Add("Changing '$([string]$item.DistinguishedName)' needs the scope 'privileged': $why.") }
    }
    Stop-GatewayProblem -Code 'forbidden' -Problem $problems.ToArray()
}

# Returns the DNS name of the domain of an object. It is '' for a foreign principal, whose domain can be found only
# from its SID.
function Get-GatewayDomainOf {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object)
    if ([string]$Object.ObjectClass -eq 'foreignSecurityPrincipal') { return '' }
    (([string]$Object.DistinguishedName) -replace '^(?:(?:[^,\\]|\\.)+,)*?DC=', '') -replace ',DC=', '.'
}

# Writes the records of members that were added or removed.
function ConvertTo-GatewayChangedMember {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Member)
    foreach ($item in $Member) {
        [ordered]@{
            type              = [string](Get-GatewayObjectType -Class ([string]$item.ObjectClass))
            guid              = [string]$item.ObjectGUID
            name              = [string]$item.Name
            username          = [string]$item.sAMAccountName
            distinguishedName = [string]$item.DistinguishedName
            sid               = [string]$item.objectSid
            domain            = [string](Get-GatewayDomainOf -Object $item)
        }
    }
}

# Writes the record of a change of members.
function ConvertTo-GatewayMemberChange {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Added,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Removed,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [string] $Server
    )
    $record = ConvertTo-GatewayGroup -Group @($Group) -AllowedOU $AllowedOU -Server $Server
    $record['added'] = @(ConvertTo-GatewayChangedMember -Member $Added)
    $record['removed'] = @(ConvertTo-GatewayChangedMember -Member $Removed)
    $record
}
