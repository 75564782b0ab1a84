# Functions that the recorder defines in a PowerShell. They write the results of a source or a call, each as one
# line of base64. This file runs in Windows PowerShell 5.1 and PowerShell 7.

# Returns an error record in the form of the recordings.
function Get-ConformanceError {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $inner = $null
    if ($null -ne $Record.Exception.InnerException) { $inner = [string]$Record.Exception.InnerException.GetType().FullName }
    [ordered]@{
        fullyQualifiedErrorId = [string]$Record.FullyQualifiedErrorId
        category              = [string]$Record.CategoryInfo.Category
        exception             = [string]$Record.Exception.GetType().FullName
        inner                 = $inner
        message               = [string]$Record.Exception.Message
        line                  = [int]$Record.InvocationInfo.ScriptLineNumber
        column                = [int]$Record.InvocationInfo.OffsetInLine
    }
}

# Writes a line of output that cannot be mistaken for any other output.
function Write-ConformanceLine {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Value)
    $json = ConvertTo-Json -InputObject $Value -Depth 6 -Compress
    [Console]::Out.WriteLine('RECORD ' + [Convert]::ToBase64String([System.Text.Encoding]::UTF8.GetBytes($json)))
}

# Writes the results of a source. State is 'parse' if it could not be parsed, and 'run' if an error ended it.
function Write-ConformanceCase {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $State,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object] $Items,
        [AllowNull()] [object] $Last
    )
    if ($State -eq 'parse') {
        $faults = @(foreach ($fault in $Last.Exception.InnerException.Errors) {
                [ordered]@{
                    id         = [string]$fault.ErrorId
                    message    = [string]$fault.Message
                    line       = [int]$fault.Extent.StartLineNumber
                    column     = [int]$fault.Extent.StartColumnNumber
                    incomplete = [bool]$fault.IncompleteInput
                }
            })
        Write-ConformanceLine -Value ([ordered]@{ parseErrors = $faults })
        return
    }
    $output = [System.Collections.Generic.List[object]]::new()
    $errors = [System.Collections.Generic.List[object]]::new()
    foreach ($item in $Items) {
        if ($null -eq $item) {
            $output.Add($null)
        } elseif ($item -is [System.Management.Automation.ErrorRecord]) {
            $errors.Add((Get-ConformanceError -Record $item))
        } elseif ($item -is [bool]) {
            $output.Add([ordered]@{ type = 'System.Boolean'; value = [bool]$item })
        } else {
            $output.Add([ordered]@{ type = [string]$item.GetType().FullName; value = [string]$item })
        }
    }
    $case = [ordered]@{ output = $output.ToArray() }
    if ($errors.Count -gt 0) { $case['errors'] = $errors.ToArray() }
    if ($State -eq 'run') { $case['thrown'] = Get-ConformanceError -Record $Last }
    Write-ConformanceLine -Value $case
}

# Runs a call of a declared function and writes the bound parameters.
function Test-ConformanceCall {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Text)
    $global:ConformanceSet = $null
    $global:ConformanceBound = @()
    try {
        & ([scriptblock]::Create($Text)) | Out-Null
        if ($null -eq $global:ConformanceSet) { throw 'The function was not called.' }
        Write-ConformanceLine -Value ([ordered]@{ set = [string]$global:ConformanceSet; bound = [string[]]@($global:ConformanceBound) })
    } catch {
        $failed = Get-ConformanceError -Record $_
        Write-ConformanceLine -Value ([ordered]@{ error = $failed.fullyQualifiedErrorId; category = $failed.category; message = $failed.message })
    }
}
