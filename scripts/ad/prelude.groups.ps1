# Functions shared by the scripts for groups and memberships.

# The properties that ConvertTo-GatewayGroup and the guards need.
$GatewayGroupProperties = @('description', 'mail', 'managedBy', 'whenCreated', 'whenChanged', 'adminCount', 'isCriticalSystemObject')

# The properties that the image of a group needs.
$GatewayGroupImaged = $GatewayGroupProperties + @('displayName', 'ProtectedFromAccidentalDeletion')

# Matches a group and everything nested in it, at any depth (facts E19).
$GatewayInChain = '1.2.840.113556.1.4.1941'

#region Groups

# Writes the records of groups. The manager of a group is left out if it is outside the caller's limits.
function ConvertTo-GatewayGroup {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Group,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [string] $Server
    )
    $bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
    foreach ($item in $Group) {
        $manager = [string]$item.managedBy
        if ($null -ne $bases -and $manager -ne '' -and -not (Test-GatewayWithin -Dn $manager -Base $bases)) { $manager = '' }
        $scope = [string]$item.GroupScope
        if ($scope -eq 'DomainLocal') { $scope = 'Domain_Local' }
        $created = $item.whenCreated # absent if the account may not read it
        if ($null -ne $created) { $created = ([datetime]$created).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        $modified = $item.whenChanged
        if ($null -ne $modified) { $modified = ([datetime]$modified).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        [ordered]@{
            guid              = [string]$item.ObjectGUID
            name              = [string]$item.Name
            samName           = [string]$item.SamAccountName
            sid               = [string]$item.SID
            distinguishedName = [string]$item.DistinguishedName
            scope             = [string]$scope
            type              = [string]$item.GroupCategory
            description       = [string]@($item.description)[0]
            email             = [string]$item.mail
            ouPath            = [string](([string]$item.DistinguishedName) -replace '^(?:[^,\\]|\\.)+,', '')
            managedBy         = [string]$manager
            created           = [string]$created
            modified          = [string]$modified
        }
    }
}

# Returns the groups that the caller may see and change. A token that names groups is limited to these groups,
# wherever they are. A token that names no groups is limited to the groups in its allowed OUs.
function Get-GatewayAllowedGroup {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Group,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($null -eq $AllowedGroup -or $AllowedGroup.Length -eq 0) {
        $bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
        foreach ($item in $Group) {
            if ($null -eq $bases -or (Test-GatewayWithin -Dn ([string]$item.DistinguishedName) -Base $bases)) { $item }
        }
        return
    }
    # Distinguished names are looked up, because there are several ways to write one (facts C22).
    $written = @(foreach ($name in $AllowedGroup) { if ($name.Contains('=')) { $name } })
    $allowed = @($AllowedGroup)
    $found = Get-GatewayAllowedDn -AllowedOU $written -Server $Server
    if ($null -ne $found) { $allowed += $found }
    foreach ($item in $Group) { if (Test-GatewayNamedGroup -Group $item -List $allowed) { $item } }
}

# Returns whether a list contains a group by its account name, distinguished name, GUID or SID.
function Test-GatewayNamedGroup {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $List
    )
    foreach ($name in @([string]$Group.SamAccountName, [string]$Group.DistinguishedName, [string]$Group.ObjectGUID, (Get-GatewaySid -Object $Group))) {
        foreach ($entry in $List) {
            if ($name -ne '' -and $name.Equals($entry, [System.StringComparison]::OrdinalIgnoreCase)) { return $true }
        }
    }
    $false
}

# Refuses a new name for a group if it is not among those to which the token is limited. Guid and Sid identify an
# existing group. A token that names the group by one of them allows any name.
function Assert-GatewayGroupName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [string] $Guid = '',
        [string] $Sid = '',
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [Parameter(Mandatory)] [string] $Arg
    )
    if ($null -eq $AllowedGroup -or $AllowedGroup.Length -eq 0) { return }
    foreach ($entry in $AllowedGroup) { # not -contains, which ignores soft hyphens
        if ($entry.Equals($Name, [System.StringComparison]::OrdinalIgnoreCase)) { return }
        if ($entry.Equals($Guid, [System.StringComparison]::OrdinalIgnoreCase)) { return }
        if ($entry.Equals($Sid, [System.StringComparison]::OrdinalIgnoreCase)) { return }
    }
    Stop-Gateway -Code 'limit' -Arg $Arg -Message "'$Name' is not among the groups that the caller is limited to."
}

# Finds a group within the caller's limits.
function Find-GatewayGroup {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Identity,
        [string[]] $Property = @(),
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg,
        [switch] $Write,
        [switch] $Quiet
    )
    Set-GatewayStep -Label 'find group' -Arg $Arg
    $limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
    Find-GatewayAccount -Class 'group' -Identity $Identity -Property $Property -Arg $Arg -Write:$Write -Quiet:$Quiet @limits
}

# Returns whether a group is built in: in the Builtin domain, with a RID below 1000, or critical.
function Test-GatewayBuiltInGroup {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Group)
    if ([string]$Group.isCriticalSystemObject -eq 'True') { return $true }
    return [bool]([string]$Group.SID -match '^S-1-5-32-|-[0-9]{1,3}$')
}

#endregion

#region Membership

# Finds the member of a request, a user or a group, within the caller's limits.
function Find-GatewayMember {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [ValidateSet('user', 'group')] [string] $Class,
        [Parameter(Mandatory)] [string] $Identity,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [switch] $Write
    )
    Set-GatewayStep -Label 'find member' -Arg 'MemberName'
    $foreign = Find-GatewayForeignMember -Class $Class -Identity $Identity -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server
    if ($null -ne $foreign) { return $foreign }
    $account = Get-GatewayAccountOf -Identity $Identity -Domain (Get-GatewayDomain -Server $Server) -Server $Server
    if ($account -ne '') { $Identity = $account }
    if ($Class -eq 'group') {
        return (Find-GatewayGroup -Identity $Identity -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server -Arg 'MemberName' -Write:$Write)
    }
    $search = @{ Identity = $Identity; Property = @('primaryGroupID'); AllowedOU = $AllowedOU; Server = $Server; Arg = 'MemberName' }
    Find-GatewayAccount -Class 'user' -Write:$Write @search
}

# Finds a member of another domain, a user or a group, within the caller's limits, by every name that identifies it
# in the forest. $null if there is none.
function Find-GatewayForeignMember {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [ValidateSet('user', 'group')] [string] $Class,
        [Parameter(Mandatory)] [string] $Identity,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    if (@(Get-GatewayOtherDomain -Server $Server).Length -eq 0) { return $null }
    $named = Find-GatewayNamed -Identity @($Identity) -Server $Server
    $foreign = @(foreach ($item in @($named[$Identity])) {
            $type = [string](Get-GatewayObjectType -Class ([string]$item.ObjectClass))
            if (-not $type.Equals($Class, [System.StringComparison]::Ordinal)) { continue }
            if (Test-GatewayForeign -Dn ([string]$item.DistinguishedName) -Server $Server) { $item }
        })
    $seen = @(Select-GatewaySeen -Found $foreign -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server)
    if ($seen.Length -lt $foreign.Length) { $script:GatewayOutside = $true }
    if ($seen.Length -ne 1) { return $null }
    $seen[0]
}

# Returns the distinguished name of an account's primary group, or '' if it has none or is in another domain.
function Get-GatewayPrimaryGroupDn {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Member, [Parameter(Mandatory)] [string] $Server)
    if ($null -eq $Member.primaryGroupID) { return '' }
    if (Test-GatewayForeign -Dn ([string]$Member.DistinguishedName) -Server $Server) { return '' }
    $domain = Get-GatewayDomain -Server $Server
    $filter = '(objectSid=' + (Get-GatewayLdapEscaped -Value ($domain.sid + '-' + [string]$Member.primaryGroupID)) + ')'
    [string]@(Get-GatewayObject -Class 'group' -Filter $filter -Base $domain.dn -Server $Server)[0].DistinguishedName
}

# Returns whether an object is a member of a group, with Chain also through nested groups. It queries the object
# itself, so the cost does not depend on the number of members.
function Test-GatewayMemberOf {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $MemberDn,
        [Parameter(Mandatory)] [string] $GroupDn,
        [Parameter(Mandatory)] [string] $Server,
        [switch] $Chain
    )
    $rule = '='
    if ($Chain) { $rule = ':' + $GatewayInChain + ':=' }
    if (Test-GatewayForeign -Dn $MemberDn -Server $Server) { # the group links to the member, but this server does not have the member
        $filter = '(member' + $rule + (Get-GatewayLdapEscaped -Value $MemberDn) + ')'
        return @(Get-GatewayObject -Class 'any' -Filter $filter -Base $GroupDn -Scope 'Base' -Server $Server).Length -gt 0
    }
    $filter = '(memberOf' + $rule + (Get-GatewayLdapEscaped -Value $GroupDn) + ')'
    @(Get-GatewayObject -Class 'any' -Filter $filter -Base $MemberDn -Scope 'Base' -Server $Server).Length -gt 0
}

# Returns how an object belongs to a group: not at all, directly, by its primary group (which memberOf omits, facts
# E18), or, with Recursive, by nesting.
function Get-GatewayMembershipKind {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Member,
        [Parameter(Mandatory)] [object] $Group,
        [bool] $Recursive = $false,
        [Parameter(Mandatory)] [string] $Server
    )
    $memberDn = [string]$Member.DistinguishedName
    $groupDn = [string]$Group.DistinguishedName
    $primaryDn = Get-GatewayPrimaryGroupDn -Member $Member -Server $Server
    $primary = [string]::Equals($primaryDn, $groupDn, [System.StringComparison]::OrdinalIgnoreCase)
    $direct = ($primary -or (Test-GatewayMemberOf -MemberDn $memberDn -GroupDn $groupDn -Server $Server))
    $nested = $false
    if ($Recursive -and -not $direct) {
        $nested = Test-GatewayMemberOf -MemberDn $memberDn -GroupDn $groupDn -Server $Server -Chain
        if (-not $nested -and $primaryDn -ne '') {
            $nested = Test-GatewayMemberOf -MemberDn $primaryDn -GroupDn $groupDn -Server $Server -Chain
        }
    }
    @{ member = [bool]($direct -or $nested); direct = [bool]$direct; primary = [bool]$primary }
}

# Writes the record of one membership. Kind is what Get-GatewayMembershipKind returned.
function ConvertTo-GatewayMembership {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [object] $Member,
        [Parameter(Mandatory)] [hashtable] $Kind,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [string] $Server
    )
    $record = ConvertTo-GatewayGroup -Group @($Group) -AllowedOU $AllowedOU -Server $Server
    $record['memberName'] = [string]$Member.SamAccountName
    $record['memberType'] = [string]$Member.ObjectClass
    $record['memberDistinguishedName'] = [string]$Member.DistinguishedName
    $record['direct'] = [bool]$Kind.direct
    $record['primary'] = [bool]$Kind.primary
    $record
}

#endregion
