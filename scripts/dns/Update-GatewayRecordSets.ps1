# Changes many record sets, each independently. Changes that fail are reported as failures, and the others are made.
# A value that already exists, or that is to be removed but does not exist, counts as done. Values that are not
# named are kept. Change has an item for each value: add, remove or clear, the number of the set, type, time to live
# (-1 means the zone's), name and data, separated by character 29. A set may be removed completely only if its
# values are cleared, and only BulkLimit sets may be. After Seconds, no further set is begun, except the first one,
# so that each request makes progress.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $Change,
    [Parameter(Mandatory)] [int] $Seconds,
    [Parameter(Mandatory)] [int] $BulkLimit,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$watch = [System.Diagnostics.Stopwatch]::StartNew()
$zones = @(Get-DnsServerZone -ComputerName $ComputerName)
$sets = [System.Collections.Generic.List[object]]::new()
foreach ($item in $Change) {
    $value = ConvertFrom-GatewayRecordChange -Change $item -Zone $zones -ComputerName $ComputerName
    if ($value.number -ge $sets.Count) {
        $values = [System.Collections.Generic.List[object]]::new()
        $sets.Add(@{ type = $value.type; name = $value.name; zone = $value.zone; values = $values })
    }
    $sets[$sets.Count - 1].values.Add($value)
}

# Guard. A name outside the caller's zones ends the request before anything is changed.
foreach ($set in $sets) { Assert-GatewayAllowedZone -ZoneName $set.zone -AllowedZone $AllowedZone }

# Announce.
foreach ($set in $sets) {
    foreach ($value in $set.values) {
        $named = @{ Dn = $set.name; Parent = $set.zone; Name = [string](@($value.type) + $value.data -join ' ') }
        if ($value.adds) { New-GatewayIntent -Creates @named } else { New-GatewayIntent -Removes @named }
    }
}
Write-GatewayIntent -Effect 'changed'

# Act and report. If the change of a set fails, it is undone, and the earlier sets are kept.
$caller = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName; ComputerName = $ComputerName }
$changed = 0
$removed = 0
$begun = 0
foreach ($set in $sets) {
    try {
        if ($begun -gt 0 -and $watch.ElapsedMilliseconds -gt 1000 * $Seconds) {
            Stop-Gateway -Code 'conflict' -Message 'The time for the changes of one request is over (externaldns.budget). The next loop makes this one.'
        }
        $begun++
        $report = Update-GatewayRecordSet -Set $set -Removable ([bool]($removed -lt $BulkLimit)) @caller
        $script:GatewayUndo.Clear()
        if ($null -ne $report) {
            $changed++
            if ($null -eq $report.after) { $removed++ }
            Add-GatewayChange -Dn $set.name -Before $report.before -After $report.after
        }
    } catch {
        $failed = $_
        foreach ($left in @(Undo-GatewayStep)) { Add-GatewayWarning -Code 'partial' -Target $left.dn -Message 'This could not be undone.' }
        $script:GatewayUndo.Clear()
        Add-GatewayFailure -Record $failed -Guid '' -Dn ($set.name + ' ' + $set.type)
    }
}
if ($changed -gt 0) { Complete-GatewayChange -Effect 'changed' }
