# Functions shared by the scripts of the doctor. They are loaded after the preludes of a lane.

# Returns the parts of an error that do not depend on the language of Windows: id, category, code, type, and the name
# of the fault if the web service reported it without a number (facts D14).
function Get-GatewayErrorText {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $info = Get-GatewayErrorInfo -Record $Record
    $id = [string]$info.id
    if ($id -eq '') { $id = 'no id' }
    $code = [string]$info.code
    if ($code -eq '') { $code = [string]$info.native }
    if ($code.StartsWith('WIN32 ', [System.StringComparison]::Ordinal)) { $code = $code.Substring(6) }
    if ($code -eq '') { $code = 'none' }
    $text = 'error ' + $id + ' | ' + [string]$info.category + ' | code ' + $code + ' | ' + [string]$info.type
    if ([string]$info.fault -ne '') { $text = $text + ' | fault ' + [string]$info.fault }
    $text
}

# Tests an assumption that has not been observed on a real Windows, and returns the outcome. This is the result of
# the action as text, 'accepted' if there is none, or its error. The action sees the variables of its script except
# Fact and Action.
function Test-GatewayFact {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Fact,
        [Parameter(Mandatory)] [scriptblock] $Action
    )
    $message = ''
    try {
        $found = [string](@(& $Action) -join '; ')
        if ($found -eq '') { $found = 'accepted' }
    } catch {
        $found = [string](Get-GatewayErrorText -Record $_)
        $message = [string]$_.Exception.Message
    }
    [ordered]@{ fact = $Fact; found = [string]$found; message = [string]$message }
}

# Returns whether a record is the doctor's, because its name, or the part after the wildcard, begins with the
# prefix.
function Test-GatewayOwnRecord {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Name, [Parameter(Mandatory)] [string] $Prefix)
    if ($Name.StartsWith('*.', [System.StringComparison]::Ordinal)) { $Name = $Name.Substring(2) }
    $Name.StartsWith($Prefix, [System.StringComparison]::OrdinalIgnoreCase)
}

# Compares two sets of names without regard to case: 'the same', or how they differ.
function Compare-GatewayNames {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Found,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Wanted
    )
    $has = @{}
    foreach ($name in $Found) { $has[$name.ToUpperInvariant()] = $true }
    $differences = @(foreach ($name in $Wanted) { if (-not $has.ContainsKey($name.ToUpperInvariant())) { 'without ' + $name } })
    $wants = @{}
    foreach ($name in $Wanted) { $wants[$name.ToUpperInvariant()] = $true }
    $differences += @(foreach ($name in $Found) { if (-not $wants.ContainsKey($name.ToUpperInvariant())) { 'also ' + $name } })
    if ($differences.Length -eq 0) { return 'the same' }
    $differences -join '; '
}
