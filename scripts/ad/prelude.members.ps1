# Functions shared by the scripts that list members and copy memberships.

# The properties of the record of a member.
$GatewayMemberProperties = @('sAMAccountName', 'objectSid', 'userAccountControl', 'primaryGroupID')

# Returns the members of a group, of any class, and the accounts whose primary group it is (facts E18). The
# directory answers from the link table, in pages, regardless of the number of members. All ends the request if
# members would be left out.
function Get-GatewayMember {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [string[]] $Property = $GatewayMemberProperties,
        [Parameter(Mandatory)] [string] $Server,
        [switch] $All
    )
    $sid = [string]$Group.SID
    if ($sid -eq '') { $sid = [string]$Group.objectSid } # of objects read without their class
    $rid = [long]($sid -replace '^.*-', '')
    $dn = [string]$Group.DistinguishedName
    $filter = '(memberOf=' + (Get-GatewayLdapEscaped -Value $dn) + ')'
    # A group of another domain is never a primary group here, although a group of this domain may have its RID.
    if (-not (Test-GatewayForeign -Dn $dn -Server $Server)) { $filter = '(|' + $filter + '(primaryGroupID=' + $rid + '))' }
    $search = @{ Class = 'any'; Property = $Property; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
    Get-GatewayObject -Filter $filter @search
    Get-GatewayForeignMember -Group $Group -Property $Property -Server $Server -All:$All
}

# Returns whether a group, given by its SID, is the primary group of an object.
function Test-GatewayPrimary {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Sid, [Parameter(Mandatory)] [object] $Member)
    if ($null -eq $Member.primaryGroupID) { return $false }
    $domain = (Get-GatewaySid -Object $Member) -replace '-[0-9]+$', ''
    $Sid.Equals($domain + '-' + [string]$Member.primaryGroupID, [System.StringComparison]::OrdinalIgnoreCase)
}

# Returns the objects that the caller may see. The limits for groups apply to groups, and those for OUs to other
# objects.
function Select-GatewaySeen {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Found,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $groups = @(foreach ($item in $Found) { if ([string]$item.ObjectClass -eq 'group') { $item } })
    $others = @(foreach ($item in $Found) { if ([string]$item.ObjectClass -ne 'group') { $item } })
    Select-GatewayAllowed -Found $groups -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server
    Select-GatewayAllowed -Found $others -AllowedOU $AllowedOU -Server $Server
}

# Returns the type of an object as shown in records of members and hits.
function Get-GatewayObjectType {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyString()] [string] $Class)
    switch ($Class) {
        'user' { return 'user' }
        'inetOrgPerson' { return 'user' }
        'group' { return 'group' }
        'computer' { return 'computer' }
        'contact' { return 'contact' }
        'foreignSecurityPrincipal' { return 'foreign' }
        'msDS-GroupManagedServiceAccount' { return 'serviceAccount' }
        'msDS-ManagedServiceAccount' { return 'serviceAccount' }
    }
    'other'
}

# Writes the records of members of a group. Members of other domains have a SID, but no account name here.
function ConvertTo-GatewayMember {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Member,
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [bool] $Direct,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Via
    )
    $sid = Get-GatewaySid -Object $Group
    $rid = $sid -replace '^.*-', ''
    $domain = $sid -replace '[0-9]+$', '' # with its dash: members of other domains have primary groups of the same RIDs
    foreach ($item in $Member) {
        $enabled = $null
        if ($null -ne $item.userAccountControl) { $enabled = ([long]$item.userAccountControl -band 2) -eq 0 }
        $dn = [string]$item.DistinguishedName
        [ordered]@{
            type              = [string](Get-GatewayObjectType -Class ([string]$item.ObjectClass))
            guid              = [string]$item.ObjectGUID
            name              = [string]$item.Name
            username          = [string]$item.sAMAccountName
            distinguishedName = [string]$dn
            ouPath            = [string](Get-GatewayParentDn -Dn $dn)
            enabled           = $enabled
            sid               = [string]$item.objectSid
            domain            = [string](Get-GatewayDomainOf -Object $item)
            direct            = [bool]$Direct
            via               = [string]$Via
            primary           = [bool]($Direct -and $rid.Equals([string]$item.primaryGroupID, [System.StringComparison]::Ordinal) -and
                ([string]$item.objectSid).StartsWith($domain, [System.StringComparison]::Ordinal))
        }
    }
}

# Adds those members of a group to a list that the caller may see and that are of one of the types, or of any type if
# there are none. Returns the groups among the members, each with the path to it.
function Add-GatewayMemberListing {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Listing,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Member,
        [Parameter(Mandatory)] [hashtable] $Type,
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [bool] $Direct,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Via,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $kept = [System.Collections.Generic.List[object]]::new()
    foreach ($item in @(Select-GatewaySeen -Found $Member -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server)) {
        $kind = Get-GatewayObjectType -Class ([string]$item.ObjectClass)
        if ($kind -eq 'group') {
            $way = $Via
            if ($Direct) { $way = [string]$item.sAMAccountName }
            @{ group = $item; via = $way }
        }
        if ($Type.Count -eq 0 -or $Type.ContainsKey($kind)) { $kept.Add($item) }
    }
    $records = @(ConvertTo-GatewayMember -Member $kept.ToArray() -Group $Group -Direct $Direct -Via $Via)
    Add-GatewayListing -Listing $Listing -Item $kept.ToArray() -Record $records
}

# Writes the record of the result for one group of a copy.
function ConvertTo-GatewayCopied {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [string] $Action,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Reason
    )
    [ordered]@{
        group  = [string]$Group.SamAccountName
        guid   = [string]$Group.ObjectGUID
        action = [string]$Action
        reason = [string]$Reason
    }
}
