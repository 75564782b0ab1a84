# What the scripts of the doctor share. Loaded after the preludes of a lane.

# What an error says in every language of Windows: its id, category, code and type.
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

# Tries one thing that has not been seen on a real Windows, and answers what came of it: what the
# action returns as a text, 'accepted' for nothing, or its error. The action sees the variables of its
# script but for Fact and Action.
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
