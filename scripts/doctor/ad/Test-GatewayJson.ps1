# Measures the time to create Count records and to write them as JSON in batches of 500.
[CmdletBinding()]
param([Parameter(Mandatory)] [int] $Count, [Parameter(Mandatory)] [string] $Fact, [string] $Server)

$watch = [System.Diagnostics.Stopwatch]::StartNew()
$records = [System.Collections.Generic.List[object]]::new()
$length = 0
for ($i = 1; $i -le $Count; $i++) {
    $records.Add([ordered]@{
            guid = '00000000-0000-0000-0000-000000000000'; name = [string]$i; created = '2026-01-01T00:00:00Z'; a = 'text'; b = 'text'
            c = 'text'; d = ''; e = ''; enabled = $true; number = 1
        })
    if ($records.Count -eq 500) {
        $length += (ConvertTo-Json -InputObject $records.ToArray() -Compress -Depth 4).Length
        $records.Clear()
    }
}
[ordered]@{ fact = $Fact; found = [string]([string]$watch.ElapsedMilliseconds + ' ms for ' + $Count + ' records of ' + $length + ' characters'); message = '' }
