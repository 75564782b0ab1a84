# Finds at most Limit users, groups and computers by a text, the best hits first. The gateway derives the other
# parameters from Text. TextUser, TextGroup and TextComputer are filters for the beginnings of names. TextInsideUser
# and similar ones are filters for objects that contain the text anywhere. With these, the directory must read every
# object of the class, so they are used only if no name begins with the text, or if Anywhere is set.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Text,
    [Parameter(Mandatory)] [string[]] $TextSpelling,
    [AllowNull()] [AllowEmptyString()] [string] $TextDigit,
    [AllowNull()] [AllowEmptyString()] [string] $TextDomain,
    [Parameter(Mandatory)] [string] $TextUser,
    [AllowNull()] [AllowEmptyString()] [string] $TextInsideUser,
    [Parameter(Mandatory)] [string] $TextGroup,
    [AllowNull()] [AllowEmptyString()] [string] $TextInsideGroup,
    [Parameter(Mandatory)] [string] $TextComputer,
    [AllowNull()] [AllowEmptyString()] [string] $TextInsideComputer,
    [bool] $Anywhere,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Readable,
    [AllowNull()] [string] $OUPath,
    [int] $Limit = 20,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$domain = Get-GatewayDomain -Server $Server
$base = $domain.dn
# DOMAIN\name with another domain does not mean an account of the same name in this domain. Only a name that begins
# with the whole text matches.
$whole = ''
if ($TextDomain -and -not (Test-GatewayOwnDomain -Name $TextDomain -Server $Server)) { $whole = $TextDomain + '\' + $Text }
if ($OUPath) {
    $base = Find-GatewaySearchBase -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
}
$needed = @(
    'sAMAccountName', 'displayName', 'description', 'mail', 'userPrincipalName', 'userAccountControl', 'givenName', 'sn'
    'physicalDeliveryOfficeName', 'employeeID', 'proxyAddresses', 'lockoutTime'
)
$scanned = @('department', 'title', 'telephoneNumber', 'mobile', 'dNSHostName')
# Request more objects than are shown, because the directory returns them in any order and the best must come first.
$most = $Limit * 10 + 1
$begins = @{ user = $TextUser; group = $TextGroup; computer = $TextComputer }
$contains = @{ user = $TextInsideUser; group = $TextInsideGroup; computer = $TextInsideComputer }
$escaped = Get-GatewayLdapEscaped -Value $Text
$equal = '(|(sAMAccountName=' + $escaped + ')(sAMAccountName=' + $escaped + '$)(mail=' + $escaped + ')(userPrincipalName=' + $escaped + '))'
$listing = New-GatewayListing -Most $Limit
$seen = @{}
$cut = $false
foreach ($inside in @($false, $true)) {
    if ($inside -and $seen.Count -gt 0 -and -not $Anywhere) { continue }
    foreach ($type in @($Readable)) {
        $clause = [string]$begins[$type]
        if ($inside) { $clause = [string]$contains[$type] }
        if (-not $clause) { continue }
        Set-GatewayStep -Label ('search for ' + $type) -Arg 'Text'
        $groups = $null
        if ($type -eq 'group') { $groups = $AllowedGroup }
        $limits = @{ AllowedGroup = $groups; AllowedOU = $AllowedOU; Server = $Server }
        $filter = [string](Resolve-GatewayFilter -Text $clause -GroupsOnly @limits)
        $properties = $needed
        if ($inside) { $properties = $needed + $scanned }
        $search = @{ Class = $type; Property = $properties; Scope = 'Subtree'; Most = $most; Server = $Server }
        $match = @{ Text = $TextSpelling; Digit = $TextDigit; Inside = $inside; Type = $type }
        foreach ($spot in (Get-GatewaySearchPlace -Base $base -Scope 'Subtree' @limits)) {
            $found = @(Get-GatewayObject -Filter $filter -Base $spot @search)
            if ($found.Length -ge $most) {
                $cut = $true
                # The object that the text identifies is shown, no matter which of the others were
                # returned.
                $others = @(foreach ($item in $found) { if ((Get-GatewayBestMatch -Item $item @match).rank -ne '0') { $item } })
                $found = @(Get-GatewayObject -Filter ('(&' + $filter + $equal + ')') -Base $spot @search) + $others
            }
            if ($type -eq 'group') { $found = @(Get-GatewayAllowedGroup -Group $found @limits) }
            $locked = @{}
            if ($type -eq 'user') { $locked = Get-GatewayLocked -User $found -Base $spot -Server $Server }
            foreach ($item in $found) {
                if ($whole -and (Get-GatewayMatch -Item $item -Text $whole -Type $type).field -eq '') { continue }
                $best = Get-GatewayBestMatch -Item $item @match
                if ($best.rank -eq '' -or $seen.ContainsKey([string]$item.ObjectGUID)) { continue }
                $seen[[string]$item.ObjectGUID] = $true
                $listing['keys'].Add($best.rank + ([string]$item.Name).ToUpperInvariant() + [string][char]0 + [string]$item.DistinguishedName)
                $hit = ConvertTo-GatewayHit -Item $item -Type $type -Matched $best.field -Locked $locked
                $listing['texts'].Add((ConvertTo-Json -InputObject $hit -Compress -Depth 4))
                if ($listing['texts'].Count -ge $GatewayBatchSize) { Write-GatewayListing -Listing $listing }
            }
        }
    }
}
if ($seen.Count -gt $Limit -or $cut) {
    Add-GatewayWarning -Code 'more' -Target '' -Message "More was found than the $Limit hits that are shown. Write more of the name."
}
Write-GatewayListing -Listing $listing -Hold
