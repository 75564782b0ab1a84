# Removes the computers in a container or its subtree whose names match a pattern. Computers that cannot be removed
# are skipped and listed.
[CmdletBinding()]
param(
    [AllowNull()] [string] $OUPath,
    [AllowNull()] [string] $WildCard,
    [bool] $Recursive = $false,
    [Parameter(Mandatory)] [int] $BulkLimit,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve. Only '*' is special in the pattern; everything else is escaped.
$root = [string](Get-GatewayDomain -Server $Server).dn
$base = $root
if ($OUPath) {
    $base = Find-GatewaySearchBase -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
}
if (([string]$WildCard).Replace('*', '') -eq '' -and $base.Equals($root, [System.StringComparison]::OrdinalIgnoreCase)) {
    Stop-Gateway -Code 'invalid_request' -Arg 'OUPath' -Message 'Without a pattern that says more than *, an OUPath below the domain root is needed.'
}
$scope = 'OneLevel'
if ($Recursive) { $scope = 'Subtree' }
$filter = ''
if ($WildCard) {
    $pieces = @(foreach ($piece in $WildCard.Split([char[]]'*')) { Get-GatewayLdapEscaped -Value $piece })
    $filter = '(name=' + ($pieces -join '*') + ')'
}
Set-GatewayStep -Label 'list computers' -Arg 'WildCard'
$found = @(Get-GatewayMatchingComputer -Filter $filter -WildCard $WildCard -Base $base -Scope $scope -Server $Server)
$matching = Get-GatewaySorted -Items $found -AllowedOU $AllowedOU -Server $Server
if ($scope -eq 'OneLevel' -and $base.Equals($root, [System.StringComparison]::OrdinalIgnoreCase)) {
    $all = @(Get-GatewayMatchingComputer -Filter $filter -WildCard $WildCard -Base $base -Scope 'Subtree' -Server $Server)
    $below = (Get-GatewaySorted -Items $all -AllowedOU $AllowedOU -Server $Server).Length - $matching.Length
    if ($below -gt 0) {
        $message = "Only the domain's root itself was searched; of the computers that match, $below lie below it. " +
            'OUPath names where to search, Recursive=true searches below that, too.'
        Add-GatewayWarning -Code 'not_searched' -Target $root -Message $message
    }
}

# Guard.
if ($matching.Length -gt $BulkLimit) {
    Stop-Gateway -Code 'too_many' -Arg 'WildCard' -Message "$($matching.Length) computers match; one request removes at most $BulkLimit. Nothing was removed."
}
Set-GatewayStep -Label 'read computers' -Arg 'WildCard'
$restorable = Get-GatewayRestorable -Server $Server
$one = ' of DELETE /api/Computers/{ADComputerName}/Remove'
$removable = [System.Collections.Generic.List[object]]::new()
foreach ($match in $matching) {
    $guid = [string]$match.ObjectGUID
    $ask = @{ Class = 'computer'; Identity = $guid; Property = $GatewayComputerImaged; AllowedOU = $AllowedOU; Server = $Server; Arg = 'WildCard' }
    $computer = Find-GatewayAccount -Quiet -Write @ask
    if ($null -eq $computer) { continue }
    $children = Get-GatewayComputerChild -Dn ([string]$computer.DistinguishedName) -Guid $guid -Server $Server
    $bar = Get-GatewayComputerBar -Computer $computer -Children $children -By $one
    if ($bar.code -eq '' -and -not $Privileged) {
        $why = Get-GatewayGuardReason -Object $computer -GuardedGroup $GuardedGroup -Server $Server
        if ($why -ne '') {
            $bar = @{ code = 'forbidden'; message = "Removing '$([string]$computer.DistinguishedName)' needs the scope 'privileged': $why." }
        }
    }
    if ($bar.code -ne '') {
        Add-GatewayWarning -Code $bar.code -Target ([string]$computer.DistinguishedName) -Message $bar.message
    } else {
        $record = ConvertTo-GatewayComputer -Computer @($computer)
        $image = Get-GatewayImage -Class 'computer' -Object $computer -Record $record -Restorable $restorable -Server $Server
        $removable.Add(@{ computer = $computer; record = $record; image = $image; going = $children.going })
    }
}

# Announce.
foreach ($item in $removable) { New-GatewayRemovalIntent -Computer $item.computer -Record $item.record -Image $item.image -Going $item.going }
$script:GatewayCounts['computers'] = [int]$removable.Count
Write-GatewayIntent -Effect 'removed'

# Act and report. Removals are not undone. A failure is reported along with the computers that were removed. If the
# server stops answering, the remaining computers fail with the same error.
$removed = 0
$down = $null
foreach ($item in $removable) {
    $failed = $down
    if ($null -eq $down) {
        Set-GatewayStep -Label 'remove computer' -Arg 'WildCard'
        try {
            $each = @{ Object = $item.computer; Below = $item.going; Class = 'computer'; Arg = 'WildCard'; Server = $Server }
            Remove-GatewayTree -Label 'remove computer' -Force $false @each
            Add-GatewayRemoval -Object $item.computer -Record $item.record -Below $item.going
        } catch {
            $failed = $_
            if ($failed.Exception.GetType().Name -eq 'ADServerDownException') {
                if ($removed -eq 0) { throw }
                $down = $failed
            }
        }
    }
    if ($null -eq $failed) {
        $removed++
        $item.record
    } else {
        Add-GatewayFailure -Record $failed -Guid ([string]$item.computer.ObjectGUID) -Dn ([string]$item.computer.DistinguishedName)
    }
}
if ($removed -gt 0) { Complete-GatewayChange -Effect 'removed' }
$script:GatewayCounts['computers'] = [int]$removed
