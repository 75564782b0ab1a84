# Functions shared by the scripts of the doctor. Loaded after the preludes of a lane.

# The parts of an error that do not depend on the language of Windows: id, category, code and type.
function Get-GatewayErrorText {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $info = Get-GatewayErrorInfo -Record $Record
    $id = [string]$info.id
    if ($id -eq '') { $id = 'no id' }
    $code = [string]$info.code
    if ($code -eq '') { $code = ([string]$info.native) -replace '^WIN32 ', '' }
    if ($code -eq '') { $code = 'none' }
    'error ' + $id + ' | ' + [string]$info.category + ' | code ' + $code + ' | ' + [string]$info.type
}

# Tries one thing that has not been observed on a real Windows, and returns the outcome: what the
# action returns as a text, 'accepted' if nothing, or its error. The action sees the variables of its
# script except Fact and Action.
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
