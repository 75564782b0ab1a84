# Functions shared by the scripts that search for users, groups and computers: filters of the gateway, the
# limits of the caller, lists and pages.

#region Filters

# Returns octets, given in hexadecimal digits, in the form for an LDAP filter.
function Get-GatewayOctetsEscaped {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Hex)
    $Hex -replace '(..)', '\$1'
}

# Returns a number below 2^24 as three octets in hexadecimal digits, the highest one first.
function Get-GatewayThreeOctets {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [int] $Number)
    $digits = [System.BitConverter]::ToString([System.BitConverter]::GetBytes([uint32]$Number)).Replace('-', '')
    $digits.Substring(4, 2) + $digits.Substring(2, 2) + $digits.Substring(0, 2)
}

# Returns the whole part of a quotient.
function Get-GatewayQuotient {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [long] $Number, [Parameter(Mandatory)] [long] $By)
    ($Number - $Number % $By) / $By
}

# Returns the shortest maximum age of a password in the domain, in ticks of 100 ns. It is 0 if a policy cannot be
# read, so that every age is possible, and -1 if no password expires. The policies for groups and users are in a
# container that only administrators can read by default (facts S23).
function Get-GatewayShortestAge {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    $search = @{ Class = 'any'; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
    $ages = [System.Collections.Generic.List[object]]::new()
    foreach ($root in @(Get-GatewayObject -Filter '(objectClass=domainDNS)' -Property 'maxPwdAge' -Scope 'Base' @search)) { $ages.Add([long]$root.maxPwdAge) }
    if (@(Get-GatewayObject -Filter '(objectClass=msDS-PasswordSettingsContainer)' @search).Length -eq 0) {
        $message = 'The password policies of groups and users cannot be read by the service account; more accounts were checked than necessary.'
        Add-GatewayWarning -Code 'policy_unreadable' -Target '' -Message $message
        return [long]0
    }
    foreach ($policy in @(Get-GatewayObject -Filter '(objectClass=msDS-PasswordSettings)' -Property 'msDS-MaximumPasswordAge' @search)) {
        $ages.Add([long]$policy.PSObject.Properties['msDS-MaximumPasswordAge'].Value)
    }
    $shortest = [long]-1
    foreach ($age in $ages) { # negative; 0 and the smallest number stand for never
        if ($age -eq 0 -or $age -lt -9000000000000000000) { continue }
        $length = 0 - $age
        if ($shortest -lt 0 -or $length -lt $shortest) { $shortest = $length }
    }
    $shortest
}

# Finds the object that a filter refers to, within the caller's limits.
function Find-GatewayReferred {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string[]] $Class,
        [Parameter(Mandatory)] [string] $Identity,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'find what the filter refers to' -Arg 'Filter'
    foreach ($one in $Class) {
        $groups = $null
        if ($one -eq 'group') { $groups = $AllowedGroup }
        $limits = @{ AllowedGroup = $groups; AllowedOU = $AllowedOU; Server = $Server }
        $found = Find-GatewayAccount -Class $one -Identity $Identity -Arg 'Filter' -Write -Quiet @limits
        if ($null -ne $found) { return $found }
    }
    $message = "The $($Class[0]) '$Identity' was not found" + (Get-GatewayScopeText -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU) +
        '. It is looked for by GUID, SID, distinguished name and account name.'
    Stop-Gateway -Code 'unprocessable' -Arg 'Filter' -Message $message
}

# Returns the filter for the members of a group, including those whose primary group it is (facts E18). With Chain
# it also matches the members of nested groups.
function Get-GatewayMemberFilter {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Group, [Parameter(Mandatory)] [string] $Server, [switch] $Chain)
    $dn = Get-GatewayLdapEscaped -Value ([string]$Group.DistinguishedName)
    $groups = [System.Collections.Generic.List[object]]::new()
    $groups.Add($Group)
    $rule = '='
    if ($Chain) {
        $rule = ':' + $GatewayInChain + ':='
        $nested = '(memberOf' + $rule + $dn + ')'
        $search = @{ Class = 'group'; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
        foreach ($other in @(Get-GatewayObject -Filter $nested @search)) { $groups.Add($other) }
    }
    $terms = @(foreach ($one in $groups) { '(primaryGroupID=' + [long](([string]$one.SID) -replace '^.*-', '') + ')' }) -join ''
    '(|(memberOf' + $rule + $dn + ')' + $terms + ')'
}

# Returns the filter for objects that refer to another object with an attribute, as far as the caller may know. An
# object outside the caller's OUs is treated as missing.
function Get-GatewayPresentFilter {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Attribute,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
    if ($null -eq $bases) { return '(' + $Attribute + '=*)' }
    $back = 'directReports'
    if ($Attribute -eq 'managedBy') { $back = 'managedObjects' }
    $terms = @(foreach ($base in $bases) {
        $search = @{ Class = 'any'; Base = $base; Server = $Server }
        foreach ($one in @(Get-GatewayObject -Filter ('(' + $back + '=*)') @search)) {
            '(' + $Attribute + '=' + (Get-GatewayLdapEscaped -Value ([string]$one.DistinguishedName)) + ')'
        }
    })
    if ($terms.Length -gt 1000) {
        $message = "More than 1000 objects in the OUs of the credential are named by others as $Attribute, so that the filter " +
            'cannot be answered. Compare with one of them by "eq".'
        Stop-Gateway -Code 'unprocessable' -Arg 'Filter' -Message $message
    }
    if ($terms.Length -eq 0) { return '(!(objectClass=*))' }
    '(|' + ($terms -join '') + ')'
}

# Returns the filter for a segment that is not text.
function Resolve-GatewaySegment {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Segment,
        [AllowNull()] [string[]] $StaleSince,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $at = $Segment.IndexOf([char]58)
    $word = $Segment.Substring(0, $at)
    $value = $Segment.Substring($at + 1)
    $limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
    switch ($word) {
        'user' { Get-GatewayLdapEscaped -Value ([string](Find-GatewayReferred -Class @('user') -Identity $value @limits).DistinguishedName) }
        'account' { Get-GatewayLdapEscaped -Value ([string](Find-GatewayReferred -Class @('user', 'group') -Identity $value @limits).DistinguishedName) }
        'member' { Get-GatewayMemberFilter -Group (Find-GatewayReferred -Class @('group') -Identity $value @limits) -Server $Server }
        'nested' { Get-GatewayMemberFilter -Group (Find-GatewayReferred -Class @('group') -Identity $value @limits) -Server $Server -Chain }
        'present' { Get-GatewayPresentFilter -Attribute $value -AllowedOU $AllowedOU -Server $Server }
        'age' {
            $age = [long](Get-GatewayShortestAge -Server $Server)
            if ($age -lt 0) { '-1' } else { [string]([long]$value - $age) } # -1: no account has one that is earlier
        }
        'stale' {
            if ($value -eq 'file') { $StaleSince[0] } else { $StaleSince[1] }
        }
        'common' {
            $sid = (Get-GatewayDomain -Server $Server).sid
            $terms = foreach ($rid in @('513', '514', '515', '516', '521')) { '(objectSid=' + (Get-GatewayLdapEscaped -Value ($sid + '-' + $rid)) + ')' }
            '(!(|' + ($terms -join '') + '))'
        }
    }
}

# Returns whether the domain in a name such as DOMAIN\name is the gateway's domain. An account of another domain
# must not be mistaken for the account with the same name in this domain.
function Test-GatewayOwnDomain {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Name, [Parameter(Mandatory)] [string] $Server)
    $domain = Get-GatewayDomain -Server $Server
    $same = [System.StringComparison]::OrdinalIgnoreCase
    $Name.Equals($domain.netBios, $same) -or $Name.Equals($domain.dns, $same)
}

# Returns the LDAP filter of a list. It joins the filter that the gateway made of the searched text, the one that
# it made of the request's filter and, with GroupsOnly, the groups that the caller is limited to. The gateway
# escapes the values (RFC 4515), so that they stay values.
function Resolve-GatewayFilter {
    [CmdletBinding()]
    param(
        [AllowNull()] [string] $Text,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $Segment,
        [AllowNull()] [string[]] $StaleSince,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [switch] $GroupsOnly,
        [Parameter(Mandatory)] [string] $Server
    )
    $whole = [System.Text.StringBuilder]::new()
    if ($Text) { [void]$whole.Append($Text) }
    if ($null -ne $Segment) {
        $limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
        for ($i = 0; $i -lt $Segment.Length; $i++) {
            $piece = $Segment[$i]
            if ($i % 2 -eq 1) { $piece = [string](Resolve-GatewaySegment -Segment $piece -StaleSince $StaleSince @limits) }
            [void]$whole.Append($piece)
        }
    }
    if ($GroupsOnly -and $null -ne $AllowedGroup -and $AllowedGroup.Length -gt 0) {
        [void]$whole.Append('(|')
        foreach ($name in $AllowedGroup) {
            $attribute = 'sAMAccountName'
            $escaped = Get-GatewayLdapEscaped -Value $name
            if ($name.Contains('=')) { $attribute = 'distinguishedName' }
            if (Test-GatewaySid -Text $name) { $attribute = 'objectSid' }
            if ($name -match '^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$') {
                $attribute = 'objectGUID'
                $escaped = Get-GatewayGuidEscaped -Guid ([guid]$name)
            }
            [void]$whole.Append('(' + $attribute + '=' + $escaped + ')')
        }
        [void]$whole.Append(')')
    }
    $whole.ToString()
}

# Warns that the directory must read every object of the class.
function Add-GatewaySlowFilter {
    [CmdletBinding()]
    param([AllowNull()] [string] $Field, [AllowNull()] [string] $Text)
    if (-not $Field -or $Text) { return }
    $message = 'The directory has no index for this and read every object of the class. A condition on a field with an index ' +
        'would narrow the search, beside this one with "and".'
    Add-GatewayWarning -Code 'slow_filter' -Target $Field -Message $message
}

# Returns the places where a list searches: the base or, for a caller with limits, the caller's OUs, without those
# that are inside others. A caller that is limited to groups may see these groups wherever they are.
function Get-GatewaySearchPlace {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Base,
        [Parameter(Mandatory)] [string] $Scope,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($null -ne $AllowedGroup -and $AllowedGroup.Length -gt 0) { return , [string[]]@($Base) }
    $allowed = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
    if ($null -eq $allowed -or (Test-GatewayWithin -Dn $Base -Base $allowed)) { return , [string[]]@($Base) }
    $places = [System.Collections.Generic.List[string]]::new()
    if ($Scope -eq 'Subtree') {
        foreach ($dn in $allowed) {
            $others = @(foreach ($other in $allowed) { if (-not $other.Equals($dn, [System.StringComparison]::OrdinalIgnoreCase)) { $other } })
            $inner = Test-GatewayWithin -Dn $dn -Base $others
            if (-not $inner -and (Test-GatewayWithin -Dn $dn -Base @($Base))) { $places.Add($dn) }
        }
    }
    , $places.ToArray()
}

#endregion

#region Checks that a filter cannot express

# Returns the properties that the checks need.
function Get-GatewayCheckProperty {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [string[]] $Check)
    foreach ($one in @($Check)) {
        if ($one -eq 'locked') { 'msDS-User-Account-Control-Computed' }
        if ($one -and $one.StartsWith('expires:', [System.StringComparison]::Ordinal)) { 'msDS-UserPasswordExpiryTimeComputed' }
    }
}

# Returns the objects for which all checks succeed.
function Select-GatewayChecked {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Found,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $Check,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($null -eq $Check -or $Check.Length -eq 0 -or $Found.Length -eq 0) { return $Found }
    $primary = @{}
    if ($Check -contains 'empty') { $primary = Get-GatewayPrimaryUse -Group $Found -Server $Server }
    foreach ($item in $Found) {
        $holds = $true
        foreach ($one in $Check) {
            $parts = $one.Split([char]58)
            switch ($parts[0]) {
                'locked' { if (([long]$item.PSObject.Properties['msDS-User-Account-Control-Computed'].Value -band 0x10) -eq 0) { $holds = $false } }
                'expires' {
                    $expires = [long]$item.PSObject.Properties['msDS-UserPasswordExpiryTimeComputed'].Value
                    if ($expires -lt [long]$parts[1] -or $expires -gt [long]$parts[2]) { $holds = $false }
                }
                'empty' { if ($primary.ContainsKey((([string]$item.SID) -replace '^.*-', ''))) { $holds = $false } }
            }
        }
        if ($holds) { $item }
    }
}

# Returns the RIDs of those groups that are the primary group of an account, as the keys of a hashtable.
function Get-GatewayPrimaryUse {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Group, [Parameter(Mandatory)] [string] $Server)
    $used = @{}
    $search = @{ Class = 'any'; Property = 'primaryGroupID'; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
    for ($i = 0; $i -lt $Group.Length; $i += 100) {
        $terms = [System.Collections.Generic.List[string]]::new()
        for ($j = $i; $j -lt $Group.Length -and $j -lt $i + 100; $j++) {
            $terms.Add('(primaryGroupID=' + [long](([string]$Group[$j].SID) -replace '^.*-', '') + ')')
        }
        foreach ($account in @(Get-GatewayObject -Filter ('(|' + ($terms.ToArray() -join '') + ')') @search)) { $used[[string]$account.primaryGroupID] = $true }
    }
    $used
}

#endregion

#region Lists and pages

# Writes the records of users, groups or computers.
function ConvertTo-GatewayFound {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Search,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Item
    )
    $limits = @{ AllowedOU = $Search['AllowedOU']; Server = $Search['Server'] }
    switch ($Search['Class']) {
        'user' { ConvertTo-GatewayUser -User $Item -Field $Search['Field'] @limits }
        'group' { ConvertTo-GatewayGroup -Group $Item @limits }
        'computer' { ConvertTo-GatewayComputer -Computer $Item }
    }
}

# Returns the objects found that belong to the list.
function Select-GatewayListed {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Search,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Found
    )
    $kept = $Found
    if ($Search['Class'] -eq 'group') {
        $kept = @(Get-GatewayAllowedGroup -Group $Found -AllowedGroup $Search['AllowedGroup'] -AllowedOU $Search['AllowedOU'] -Server $Search['Server'])
    }
    Select-GatewayChecked -Found $kept -Check $Search['Check'] -Server $Search['Server']
}

# Adds objects to a list or page.
function Add-GatewayFound {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Search,
        [Parameter(Mandatory)] [hashtable] $Listing,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Found
    )
    $kept = @(Select-GatewayListed -Search $Search -Found $Found)
    Add-GatewayListing -Listing $Listing -Item $kept -Record @(ConvertTo-GatewayFound -Search $Search -Item $kept)
}

# Reads all objects that match, or gives up after more than Most. Returns the number of objects that it has read.
# Objects are added in batches, of which only the texts of the records are kept, because an object takes several
# times as much memory.
function Read-GatewayFound {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Search,
        [Parameter(Mandatory)] [string] $Filter,
        [Parameter(Mandatory)] [hashtable] $Listing,
        [long] $Most = 0
    )
    $batch = [System.Collections.Generic.List[object]]::new()
    # Add an empty batch first. It reads the facts about limits before the list, because a read during the list
    # would need a second connection (facts D19).
    Add-GatewayFound -Search $Search -Listing $Listing -Found $batch.ToArray()
    $read = [long]0
    $look = @{ Class = $Search['Class']; Property = $Search['Property']; Scope = $Search['Scope']; Server = $Search['Server'] }
    foreach ($place in $Search['Place']) {
        if ($Most -gt 0) {
            if ($read -ge $Most) { break }
            $look['Most'] = $Most - $read
        }
        $whole = [bool](@($Search['Check']) -contains 'empty')
        Get-GatewayObject -Filter $Filter -Base $place @look | ForEach-Object -Process {
            $batch.Add($_)
            if ($batch.Count -ge $GatewayBatchSize -and -not $whole) {
                Add-GatewayFound -Search $Search -Listing $Listing -Found $batch.ToArray()
                $read += $batch.Count
                $batch.Clear()
            }
        }
        Add-GatewayFound -Search $Search -Listing $Listing -Found $batch.ToArray()
        $read += $batch.Count
        $batch.Clear()
    }
    $read
}

# Sends a list, or one page of it.
function Write-GatewaySearch {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Search,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Filter,
        [int] $Limit = 0,
        [AllowNull()] [string] $After,
        [int] $AfterStart = 0,
        [bool] $Count = $false
    )
    $all = '(objectGUID=*)' + $Filter # every object has a GUID
    if ($Limit -le 0) {
        $listing = New-GatewayListing
        Read-GatewayFound -Search $Search -Filter $all -Listing $listing | Out-Null
        Write-GatewayListing -Listing $listing -Hold
        return
    }
    $listing = New-GatewayListing -Most $Limit
    Read-GatewayPage -Search $Search -Filter $Filter -Listing $listing -After $After -AfterStart $AfterStart
    Write-GatewayListing -Listing $listing -Hold
    if ($listing['count'] -gt $Limit -and $Search['Text']) {
        $message = "More was found than the $Limit records of this page."
        Add-GatewayWarning -Code 'more' -Target '' -Message $message
    }
    if ($Count) {
        $Search['Property'] = @(Get-GatewayCheckProperty -Check $Search['Check'])
        $script:GatewayCounts['total'] = [int](Measure-GatewayFound -Search $Search -Filter $all)
    }
}

# Counts what matches.
function Measure-GatewayFound {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Search, [Parameter(Mandatory)] [string] $Filter)
    $total = 0
    $batch = [System.Collections.Generic.List[object]]::new()
    foreach ($place in $Search['Place']) {
        $look = @{ Class = $Search['Class']; Property = $Search['Property']; Scope = $Search['Scope']; Server = $Search['Server'] }
        $whole = [bool](@($Search['Check']) -contains 'empty')
        Get-GatewayObject -Filter $Filter -Base $place @look | ForEach-Object -Process {
            $batch.Add($_)
            if ($batch.Count -ge $GatewayBatchSize -and -not $whole) {
                $total += @(Select-GatewayListed -Search $Search -Found $batch.ToArray()).Length
                $batch.Clear()
            }
        }
        $total += @(Select-GatewayListed -Search $Search -Found $batch.ToArray()).Length
        $batch.Clear()
    }
    $total
}

# Reads the objects of a page in the order of their GUIDs, beginning at After. It reads at least one more than the page
# holds, or all if there are fewer.
# The directory neither sorts nor skips cheaply, but GUIDs are random and indexed, so the share of objects in a
# window of GUIDs can be predicted (facts S31). The size of a window is a number of values of the first three octets.
# A filter that is checked afterwards may drop almost all objects that are read. The size of the next window therefore
# depends on how many objects the last window read and how many it kept. The next window is meant to contain about half
# of the objects that a search may read.
function Read-GatewayPage {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Search,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Filter,
        [Parameter(Mandatory)] [hashtable] $Listing,
        [AllowNull()] [string] $After,
        [int] $AfterStart = 0
    )
    $enough = $Listing['most'] + 1
    $first = $After
    if (-not $first) { $first = '00000000000000000000000000000000' }
    $start = [long]$AfterStart
    $end = [long]0xffffff
    $width = [long]0x10000
    $widest = $end
    $bound = [long](3 * $enough + 7)
    while ($start -le $end) {
        $last = $start + $width - 1
        if ($last -gt $end) { $last = $end }
        $from = Get-GatewayOctetsEscaped -Hex $first
        $to = Get-GatewayOctetsEscaped -Hex ((Get-GatewayThreeOctets -Number $last) + 'ffffffffffffffffffffffffff')
        $before = $Listing['count']
        $most = $bound
        if ($last -eq $start) { $most = [long]0 }
        $ranged = $Filter + '(objectGUID>=' + $from + ')(objectGUID<=' + $to + ')'
        $read = [long](Read-GatewayFound -Search $Search -Filter $ranged -Listing $Listing -Most $most)
        if ($most -gt 0 -and $read -ge $most) { # possibly incomplete, so use a smaller window
            Reset-GatewayListing -Listing $Listing -From $first -Count $before
            $width = [long](Get-GatewayQuotient -Number ($last - $start + 1) -By 16)
            if ($width -lt 1) { $width = [long]1 }
            $widest = $width * 4
            continue
        }
        $missing = $enough - $Listing['count']
        if ($missing -le 0) { break }
        $start = $last + 1
        $first = (Get-GatewayThreeOctets -Number $start) + '00000000000000000000000000'
        if ($read -eq 0) { # no objects from which to derive a width
            $width = $widest
            continue
        }
        $wanted = $read * 64
        $found = $Listing['count'] - $before
        if ($found -gt 0) { $wanted = [long](Get-GatewayQuotient -Number ($read * 13 * $missing) -By ($found * 10)) + 1 }
        if ($wanted -gt 5000) { $wanted = [long]5000 }
        if ($bound -lt 2 * $wanted) { $bound = 2 * $wanted }
        $width = [long](Get-GatewayQuotient -Number ($width * $wanted) -By $read) + 1
    }
}

#endregion
