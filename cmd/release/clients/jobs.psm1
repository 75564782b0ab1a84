function Submit-AdgJob {
    # .SYNOPSIS
    # Submits a list of changes to run as one job, from the pipeline or from a CSV file.
    #
    # .DESCRIPTION
    # POST /api/Jobs requires the scope job:submit and the scope of each change.
    # Columns must have the names of the function's parameters, or their aliases. An empty cell counts as absent.
    #
    # .PARAMETER Operation
    # Change to make to each object: the name of a function, such as Set-AdgUser, or of an operation, such as user.update.
    #
    # .PARAMETER InputObject
    # Objects from the pipeline.
    #
    # .PARAMETER Path
    # CSV file with a line for each change.
    #
    # .PARAMETER Name
    # Name of the job, for display.
    #
    # .PARAMETER Mode
    # Mode of the job: run, validate, or dryRun. After the last two, Start-AdgJob runs the list.
    #
    # .PARAMETER SkipInvalid
    # Skips invalid lines. Otherwise, a single invalid line prevents the whole list from running.
    #
    # .PARAMETER NotBefore
    # Earliest time at which the job begins, as a [datetime] or as text.
    #
    # .PARAMETER StopAfter
    # Number of failed lines after which the job stops; 0 to never stop.
    #
    # .PARAMETER OnUnknown
    # Whether to stop or to continue after a line with an unknown outcome.
    #
    # .PARAMETER IdempotencyKey
    # Unique key for the submission. If you repeat it with the same key, the list is not submitted again.
    #
    # .EXAMPLE
    # [pscustomobject]@{ Username = 'aschmidt'; JobTitle = 'Lead' } | Submit-AdgJob -Operation Set-AdgUser
    #
    # .LINK
    # Wait-AdgJob
    [CmdletBinding(PositionalBinding = $false, SupportsShouldProcess = $true, ConfirmImpact = 'Medium', DefaultParameterSetName = 'Objects')]
    [OutputType('AdGateway.Job')]
    param(
        [Parameter(Mandatory = $true, Position = 0)]
        [string] $Operation,

        [Parameter(Mandatory = $true, ParameterSetName = 'Objects', ValueFromPipeline = $true)]
        [object] $InputObject,

        [Parameter(Mandatory = $true, ParameterSetName = 'Path')]
        [string] $Path,

        [string] $Name,

        [string] $Mode,

        [switch] $SkipInvalid,

        [object] $NotBefore,

        [long] $StopAfter,

        [string] $OnUnknown,

        [string] $IdempotencyKey
    )
    begin { $__items = [System.Collections.Generic.List[object]]::new() }
    process {
        if ($PSCmdlet.ParameterSetName -eq 'Objects') { $__items.Add($InputObject) }
    }
    end {
        if ($PSCmdlet.ParameterSetName -eq 'Path') {
            foreach ($__line in @(Import-Csv -LiteralPath $Path)) { $__items.Add($__line) }
        }
        Submit-AdgList -Caller $PSCmdlet -Given $PSBoundParameters -Items $__items.ToArray()
    }
}

# Submit-AdgList sends the list of a job.
function Submit-AdgList {
    [CmdletBinding()]
    param($Caller, $Given, $Items)
    if ($null -eq $script:Connection) {
        $failure = @{ code = 'not_connected'; message = 'There is no connection to a gateway: call Connect-AdGateway first.' }
        $Caller.ThrowTerminatingError((New-AdgErrorRecord -Failure $failure))
        return
    }
    $variables = $Caller.SessionState.PSVariable
    if (-not $Given.ContainsKey('ErrorAction')) { $ErrorActionPreference = $variables.GetValue('ErrorActionPreference') }
    if (-not $Given.ContainsKey('Verbose')) { $VerbosePreference = $variables.GetValue('VerbosePreference') }
    if (-not $Given.ContainsKey('Confirm')) { $ConfirmPreference = $variables.GetValue('ConfirmPreference') }
    $WhatIfPreference = $variables.GetValue('WhatIfPreference')
    if ($Given.ContainsKey('WhatIf')) { $WhatIfPreference = $Given['WhatIf'] -eq $true }
    $id = $Given['Operation']
    $names = @{}
    $about = $script:Functions[$id]
    if ($null -ne $about) {
        $id = ''
        foreach ($set in @($about.Sets.Keys)) {
            if ($id -eq '' -or $set -eq 'Identity') { $id = $about.Sets[$set] }
        }
        $names = $about.Names
    }
    $row = $script:Rows[$id]
    $list = @(foreach ($item in $Items) {
        $values = @{}
        foreach ($property in $item.PSObject.Properties) {
            if ($null -eq $property.Value -or "$($property.Value)" -eq '') { continue }
            $name = $property.Name
            if ($null -ne $names[$name]) { $name = $names[$name] }
            if ($null -ne $row -and $null -ne $row.Parameters[$name]) { $name = $row.Parameters[$name] }
            $values[$name] = "$($property.Value)"
        }
        @{ operation = $id; parameters = $values }
    })
    if (-not $Caller.ShouldProcess("$($list.Count) objects", "Submit-AdgJob $id")) { return }
    $pairs = @()
    foreach ($name in @('Name', 'Mode', 'SkipInvalid', 'NotBefore', 'StopAfter', 'OnUnknown')) {
        if (-not $Given.ContainsKey($name)) { continue }
        $value = $Given[$name]
        if ($value -is [switch]) { $value = "$value".ToLowerInvariant() }
        if ($value -is [datetime]) { $value = $value.ToUniversalTime().ToString('o') }
        $pairs = $pairs + ($name + '=' + (ConvertTo-AdgPart -Text "$value"))
    }
    $path = '/api/Jobs'
    if ($pairs.Count -gt 0) { $path = $path + '?' + ($pairs -join '&') }
    $headers = @{}
    if ($Given.ContainsKey('IdempotencyKey')) { $headers['Idempotency-Key'] = $Given['IdempotencyKey'] }
    $text = ConvertTo-Json -InputObject @{ items = $list } -Compress -Depth 6
    $answer = Send-AdgRequest -Caller $Caller -Row $script:Rows['job.submit'] -Path $path -Values @{} -Headers $headers -List $text
    if ($null -ne $answer.Failure) {
        $Caller.WriteError((New-AdgErrorRecord -Failure $answer.Failure))
        return
    }
    $Caller.WriteVerbose("$($answer.Body.output)")
    foreach ($record in @($answer.Body.result)) { Add-AdgMembers -Record $record -Row $script:Rows['job.submit'] -Answer $answer }
}

function Wait-AdgJob {
    # .SYNOPSIS
    # Waits until a job has ended or requires an action, and returns it.
    #
    # .DESCRIPTION
    # GET /api/Jobs/{JobId} requires the scope job:read.
    # A job is also returned if it is paused, or ready after a validation or a dry run.
    #
    # .PARAMETER JobId
    # ID of the job.
    #
    # .PARAMETER TimeoutSec
    # Maximum time to wait, in seconds; by default, there is no limit. The job continues after that time.
    #
    # .EXAMPLE
    # Wait-AdgJob -JobId 'jb_019ab3f0-0000-7000-8000-000000000000'
    #
    # .LINK
    # Receive-AdgJob
    [CmdletBinding(PositionalBinding = $false)]
    [OutputType('AdGateway.Job')]
    param(
        [Parameter(Mandatory = $true, Position = 0, ValueFromPipeline = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('id')]
        [string] $JobId,

        [int] $TimeoutSec
    )
    process {
        Wait-AdgEnd -Caller $PSCmdlet -JobId $JobId -Seconds $TimeoutSec -Limited $PSBoundParameters.ContainsKey('TimeoutSec') -Given $PSBoundParameters
    }
}

# Wait-AdgEnd waits for a job.
function Wait-AdgEnd {
    [CmdletBinding()]
    param($Caller, [string] $JobId, [int] $Seconds, [bool] $Limited, $Given)
    if ($null -eq $script:Connection) {
        $failure = @{ code = 'not_connected'; message = 'There is no connection to a gateway: call Connect-AdGateway first.' }
        $Caller.ThrowTerminatingError((New-AdgErrorRecord -Failure $failure))
        return
    }
    $variables = $Caller.SessionState.PSVariable
    if (-not $Given.ContainsKey('ErrorAction')) { $ErrorActionPreference = $variables.GetValue('ErrorActionPreference') }
    $ProgressPreference = $variables.GetValue('ProgressPreference')
    $row = $script:Rows['job.get']
    $pause = 1
    $left = $Seconds
    while ($true) {
        $answer = Send-AdgRequest -Caller $Caller -Row $row -Path ('/api/Jobs/' + (ConvertTo-AdgPart -Text $JobId)) -Values @{} -Headers @{}
        if ($null -ne $answer.Failure) {
            $Caller.WriteError((New-AdgErrorRecord -Failure $answer.Failure))
            return
        }
        $job = @($answer.Body.result)[0]
        if (@('ready', 'paused', 'done', 'failed', 'cancelled', 'rejected') -contains $job.state) { break }
        if ($Limited -and $left -le 0) { break }
        $percent = 0
        if ($null -ne $job.percent) { $percent = [int] $job.percent }
        Write-Progress -Activity "Job $JobId" -Status "$($job.state): $($job.done) of $($job.total)" -PercentComplete $percent
        Start-Sleep -Seconds $pause
        $left = $left - $pause
        if ($pause -lt 5) { $pause = $pause + 1 }
    }
    Write-Progress -Activity "Job $JobId" -Status 'ended' -Completed
    Add-AdgMembers -Record $job -Row $row -Answer $answer
}

function Receive-AdgJob {
    # .SYNOPSIS
    # Returns the outcome of each line of a job, in the order of the list.
    #
    # .DESCRIPTION
    # GET /api/Jobs/{JobId}/Items requires the scope job:read.
    #
    # .PARAMETER JobId
    # ID of the job.
    #
    # .PARAMETER State
    # State of the lines to return, such as failed. By default, all lines are returned.
    #
    # .EXAMPLE
    # Receive-AdgJob -JobId 'jb_019ab3f0-0000-7000-8000-000000000000' -State 'failed'
    #
    # .LINK
    # Submit-AdgJob
    [CmdletBinding(PositionalBinding = $false)]
    [OutputType('AdGateway.JobItem')]
    param(
        [Parameter(Mandatory = $true, Position = 0, ValueFromPipeline = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('id')]
        [string] $JobId,

        [string] $State
    )
    begin { $__line = @($PSBoundParameters.Keys); $__said = @{} }
    process {
        Invoke-AdgOperation -Caller $PSCmdlet -Function 'Get-AdgJobItem' -Given $PSBoundParameters -Line $__line -Item $_ -Said $__said
    }
}
