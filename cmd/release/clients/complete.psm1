# Get-AdgCompletion returns the completions of a parameter: the words of an enumeration, or names that the
# gateway finds.
function Get-AdgCompletion {
    [CmdletBinding()]
    param([string] $Function, [string] $Parameter, [string] $Word)
    $about = $script:Functions[$Function]
    if ($null -eq $about) { return }
    $begun = $Word.Replace("'", '').Replace('"', '')
    $found = @()
    if ($null -ne $about.Words[$Parameter]) {
        $found = @($about.Words[$Parameter])
    } elseif ($null -ne $script:Connection) {
        $kind = $about.Completes[$Parameter]
        if ($kind -eq 'user' -and $begun -ne '') { $found = @(Get-AdgUser -Text $begun -Limit 50 -ShowFields 'username' -ErrorAction Ignore | ForEach-Object -Process { $_.username }) }
        if ($kind -eq 'group' -and $begun -ne '') { $found = @(Get-AdgGroup -Text $begun -Limit 50 -ErrorAction Ignore | ForEach-Object -Process { $_.samName }) }
        if ($kind -eq 'ou') { $found = @(Get-AdgOU -ErrorAction Ignore | ForEach-Object -Process { $_.path }) }
        if ($kind -eq 'zone') { $found = @(Get-AdgDnsZone -ErrorAction Ignore | ForEach-Object -Process { $_.zoneName }) }
    }
    foreach ($text in $found) {
        if ($text.Length -lt $begun.Length -or $text.Substring(0, $begun.Length) -ne $begun) { continue }
        if ($text -match '^[A-Za-z0-9_.-]+$') { $text } else { "'" + $text.Replace("'", "''") + "'" }
    }
}
