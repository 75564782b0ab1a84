# Finds users, groups and computers by a text: the best hits first, at most Limit of them. TextUser, TextGroup and
# TextComputer are the filters that the gateway made of Text.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Text,
    [Parameter(Mandatory)] [string] $TextUser,
    [Parameter(Mandatory)] [string] $TextGroup,
    [Parameter(Mandatory)] [string] $TextComputer,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Readable,
    [AllowNull()] [string] $OUPath,
    [int] $Limit = 20,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$base = (Get-GatewayDomain -Server $Server).dn
if ($OUPath) {
    $base = Find-GatewaySearchBase -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
}
$needed = @(
    'sAMAccountName', 'displayName', 'description', 'mail', 'userPrincipalName', 'userAccountControl', 'givenName', 'sn'
    'physicalDeliveryOfficeName', 'employeeID', 'proxyAddresses', 'lockoutTime'
)
# More than are shown, since the directory returns any of them, and the best are to be first.
$most = $Limit * 10 + 1
$escaped = Get-GatewayLdapEscaped -Value $Text
$equal = '(|(sAMAccountName=' + $escaped + ')(sAMAccountName=' + $escaped + '$)(mail=' + $escaped + ')(userPrincipalName=' + $escaped + '))'
$listing = New-GatewayListing
$cut = $false
foreach ($type in @($Readable)) {
    Set-GatewayStep -Label ('search for ' + $type) -Arg 'Text'
    $groups = $null
    $clause = $TextUser
    if ($type -eq 'computer') { $clause = $TextComputer }
    if ($type -eq 'group') {
        $clause = $TextGroup
        $groups = $AllowedGroup
    }
    $limits = @{ AllowedGroup = $groups; AllowedOU = $AllowedOU; Server = $Server }
    $filter = [string](Resolve-GatewayFilter -Text $clause -GroupsOnly @limits)
    $search = @{ Class = $type; Property = $needed; Scope = 'Subtree'; Most = $most; Server = $Server }
    foreach ($spot in (Get-GatewaySearchPlace -Base $base -Scope 'Subtree' @limits)) {
        $found = @(Get-GatewayObject -Filter $filter -Base $spot @search)
        if ($found.Length -ge $most) {
            $cut = $true
            # What the text identifies is shown, whichever of the others were returned.
            $others = @(foreach ($item in $found) { if ((Get-GatewayMatch -Item $item -Text $Text -Type $type).rank -ne '0') { $item } })
            $found = @(Get-GatewayObject -Filter ('(&' + $filter + $equal + ')') -Base $spot @search) + $others
        }
        if ($type -eq 'group') { $found = @(Get-GatewayAllowedGroup -Group $found @limits) }
        $locked = @{}
        if ($type -eq 'user') { $locked = Get-GatewayLocked -User $found -Base $spot -Server $Server }
        foreach ($item in $found) {
            $match = Get-GatewayMatch -Item $item -Text $Text -Type $type
            $listing['keys'].Add($match.rank + ([string]$item.Name).ToUpperInvariant() + [string][char]0 + [string]$item.DistinguishedName)
            $hit = ConvertTo-GatewayHit -Item $item -Type $type -Matched $match.field -Locked $locked
            $listing['texts'].Add((ConvertTo-Json -InputObject $hit -Compress -Depth 4))
        }
    }
}
if ($listing['keys'].Count -gt $Limit -or $cut) {
    Add-GatewayWarning -Code 'more' -Target '' -Message "More was found than the $Limit hits that are shown. Write more of the name."
}
Write-GatewayListing -Listing $listing -Most $Limit
$script:GatewayLast = '' # hits are no pages
