# AdGateway: functions for each operation of an adgateway server. Generated; see
# Get-Command -Module AdGateway, and Get-Help for each function.

$script:Connection = $null

function Connect-AdGateway {
    # .SYNOPSIS
    # Chooses the gateway and the token for the functions of this module, and shows who is calling.
    #
    # .DESCRIPTION
    # The address must be https, unless it is that of this machine. The certificate of the gateway must be
    # one that this machine trusts; there is no switch that skips the check. The token stays a SecureString
    # in memory, until Disconnect-AdGateway or the end of the session.
    #
    # .PARAMETER Uri
    # The address of the gateway, without /api: https://gateway.corp.example:8443
    #
    # .PARAMETER Token
    # The token, as a SecureString.
    #
    # .PARAMETER Credential
    # A user of the gateway and the password, instead of a token.
    #
    # .PARAMETER TimeoutSec
    # How long a call may take, in seconds. A change that takes longer continues at the gateway.
    #
    # .PARAMETER RetrySec
    # How many seconds in all a call waits for a busy gateway before it is repeated, in the pauses that it asks for. A change
    # is repeated only if nothing was done. 0 never repeats.
    #
    # .EXAMPLE
    # Connect-AdGateway -Uri 'https://gateway.corp.example:8443' -Token (Read-Host -AsSecureString -Prompt 'Token')
    #
    # .EXAMPLE
    # Connect-AdGateway -Uri 'https://gateway.corp.example:8443' -Credential (Get-Credential)
    [CmdletBinding(DefaultParameterSetName = 'Token')]
    [OutputType('System.Management.Automation.PSObject')]
    param(
        [Parameter(Mandatory = $true, Position = 0)]
        [string] $Uri,

        [Parameter(Mandatory = $true, Position = 1, ParameterSetName = 'Token')]
        [System.Security.SecureString] $Token,

        [Parameter(Mandatory = $true, ParameterSetName = 'Credential')]
        [System.Management.Automation.PSCredential] $Credential,

        [int] $TimeoutSec = 120,

        [int] $RetrySec = 60
    )
    process {
        if ($Uri -notmatch '^https://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]+)?/?$' -and $Uri -notmatch '^http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?/?$') {
            $failure = @{ code = 'invalid_address'; message = "'$Uri' is not an address such as https://gateway.corp.example:8443. Without TLS the token could be read on its way; http is for this machine only." }
            $PSCmdlet.ThrowTerminatingError((New-AdgErrorRecord -Failure $failure))
        }
        if ($PSVersionTable.PSEdition -ne 'Core') {
            # Windows PowerShell on Windows Server 2016 does not offer it by itself.
            [System.Net.ServicePointManager]::SecurityProtocol = [System.Net.ServicePointManager]::SecurityProtocol -bor [System.Net.SecurityProtocolType]::Tls12
        }
        $before = $script:Connection
        $script:Connection = @{ Address = $Uri.TrimEnd('/'); Token = $Token; Credential = $Credential; TimeoutSec = $TimeoutSec; RetrySec = $RetrySec }
        try {
            Get-AdgCaller -ErrorAction Stop
        } catch {
            $script:Connection = $before
            $PSCmdlet.ThrowTerminatingError($_)
        }
    }
}

function Disconnect-AdGateway {
    # .SYNOPSIS
    # Forgets the address and the token.
    #
    # .EXAMPLE
    # Disconnect-AdGateway
    [CmdletBinding()]
    param()
    process {
        $script:Connection = $null
    }
}

# ConvertFrom-AdgSecret returns the text of a SecureString, for a request and nothing else.
function ConvertFrom-AdgSecret {
    [CmdletBinding()]
    param([System.Security.SecureString] $Secret)
    [System.Net.NetworkCredential]::new('', $Secret).Password
}

# ConvertTo-AdgPart returns a text as part of an address.
function ConvertTo-AdgPart {
    [CmdletBinding()]
    param([string] $Text)
    [System.Uri]::EscapeDataString($Text)
}

# New-AdgErrorRecord returns what is shown of a failure: ErrorId is the code of the API, and
# TargetObject the error of the answer, with details, outcome and requestId.
function New-AdgErrorRecord {
    [CmdletBinding()]
    param($Failure)
    $category = $script:Categories[$Failure.code]
    if ($null -eq $category) { $category = 'NotSpecified' }
    $exception = [System.InvalidOperationException]::new($Failure.message)
    [System.Management.Automation.ErrorRecord]::new($exception, $Failure.code, $category, $Failure)
}

# ConvertTo-AdgFailure returns the error of the answer that a failed request has, or one that says
# that there is none. A body that is not ours, such as that of a proxy, is no answer.
function ConvertTo-AdgFailure {
    [CmdletBinding()]
    param($Problem)
    $failure = $null
    if ($null -ne $Problem.ErrorDetails) {
        try { $failure = (ConvertFrom-Json -InputObject $Problem.ErrorDetails.Message).error } catch { $failure = $null }
    }
    if ($null -eq $failure -or $null -eq $failure.code) {
        $failure = @{ code = 'no_answer'; message = "The gateway at $($script:Connection.Address) gave no answer: $($Problem.Exception.Message) A change may have been made: read the object, or repeat the call with the same -IdempotencyKey." }
    }
    $failure
}

# Get-AdgAuthorization returns the header that says who is calling.
function Get-AdgAuthorization {
    [CmdletBinding()]
    param()
    if ($null -ne $script:Connection.Token) {
        'Bearer ' + (ConvertFrom-AdgSecret -Secret $script:Connection.Token)
    } else {
        $text = $script:Connection.Credential.UserName + ':' + (ConvertFrom-AdgSecret -Secret $script:Connection.Credential.Password)
        'Basic ' + [System.Convert]::ToBase64String([System.Text.Encoding]::UTF8.GetBytes($text))
    }
}

# Get-AdgPause returns how many seconds to wait before a call is repeated: what the answer asks
# for in Retry-After, but not less than Least. The editions show headers differently.
function Get-AdgPause {
    [CmdletBinding()]
    param($Problem, [int] $Least)
    $seconds = $null
    $response = $Problem.Exception.Response
    if ($null -ne $response) {
        if ($PSVersionTable.PSEdition -eq 'Core') {
            $seconds = $response.Headers.RetryAfter.Delta.TotalSeconds
        } else {
            $seconds = $response.Headers['Retry-After']
        }
    }
    if ("$seconds" -match '^[0-9]+$' -and [int] "$seconds" -gt $Least) { [int] "$seconds" } else { $Least }
}

# Send-AdgRequest sends one request and returns the answer.
function Send-AdgRequest {
    [CmdletBinding()]
    param([string] $Method, [string] $Path, [hashtable] $Values, [hashtable] $Headers)
    $all = @{ 'Authorization' = Get-AdgAuthorization; 'Accept' = 'application/json' }
    foreach ($name in $Headers.Keys) { $all[$name] = $Headers[$name] }
    $request = @{
        Uri = $script:Connection.Address + $Path; Method = $Method; Headers = $all; TimeoutSec = $script:Connection.TimeoutSec
        MaximumRedirection = 0; UseBasicParsing = $true; ErrorAction = 'Stop'
    }
    if ($Method -eq 'GET' -or $Method -eq 'DELETE') {
        $pairs = @(foreach ($name in $Values.Keys) { $name + '=' + (ConvertTo-AdgPart -Text (@($Values[$name]) -join ',')) })
        if ($pairs.Count -gt 0) { $request.Uri = $request.Uri + '?' + ($pairs -join '&') }
    } elseif ($Values.Count -gt 0) {
        $request.ContentType = 'application/json; charset=utf-8'
        $request.Body = [System.Text.Encoding]::UTF8.GetBytes((ConvertTo-Json -InputObject $Values -Compress -Depth 4))
    }
    Invoke-RestMethod @request
}

# Invoke-AdgOperation makes the call of one operation for the function that was called, and writes its
# records, warnings and errors as those of that function.
function Invoke-AdgOperation {
    [CmdletBinding()]
    param($Caller, [hashtable] $Operation, $Given, [bool] $DryRun)
    if ($null -eq $script:Connection) {
        $failure = @{ code = 'not_connected'; message = 'No gateway is chosen: call Connect-AdGateway first.' }
        $Caller.ThrowTerminatingError((New-AdgErrorRecord -Failure $failure))
    }
    $path = $Operation.Path
    $values = @{}
    foreach ($name in $Operation.Parameters) {
        if (-not $Given.ContainsKey($name)) { continue }
        $value = $Given[$name]
        if ($value -is [System.Security.SecureString]) { $value = ConvertFrom-AdgSecret -Secret $value }
        if ($value -is [bool]) { $value = "$value".ToLowerInvariant() }
        $place = $Operation.Places[$name]
        if ($null -eq $place) {
            $values[$name] = $value
        } else {
            $path = $path.Replace('{' + $place + '}', (ConvertTo-AdgPart -Text $value))
        }
    }
    if ($DryRun) { $values['DryRun'] = 'true' }
    $headers = @{}
    if ($Given.ContainsKey('IdempotencyKey')) { $headers['Idempotency-Key'] = $Given['IdempotencyKey'] }
    if ($Given.ContainsKey('IfMatch')) { $headers['If-Match'] = $Given['IfMatch'] }
    if ($Given.ContainsKey('OnlyIfNew') -and $Given['OnlyIfNew']) { $headers['If-None-Match'] = '*' }
    $paged = $Given.ContainsKey('PageSize')
    if ($paged) { $values['Limit'] = $Given['PageSize'] }
    $left = $script:Connection.RetrySec
    $least = 1
    do {
        $answer = $null
        while ($null -eq $answer) {
            try {
                $answer = Send-AdgRequest -Method $Operation.Method -Path $path -Values $values -Headers $headers
            } catch {
                $failure = ConvertTo-AdgFailure -Problem $_
                $pause = Get-AdgPause -Problem $_ -Least $least
                # A refusal of a busy gateway says what became of a change, unless it never began.
                $repeats = $script:Busy -contains $failure.code -and ($null -eq $failure.outcome -or $failure.outcome -eq 'none')
                if (-not $repeats -or $pause -gt $left) {
                    $Caller.WriteError((New-AdgErrorRecord -Failure $failure))
                    return
                }
                $Caller.WriteVerbose("$($failure.message) The call is repeated after $pause seconds.")
                Start-Sleep -Seconds $pause
                $left = $left - $pause
                $least = $least * 2
                if ($least -gt 15) { $least = 15 }
            }
        }
        $Caller.WriteVerbose($answer.output)
        foreach ($warning in @($answer.warnings)) {
            if ($null -ne $warning) { $Caller.WriteWarning($warning.message) }
        }
        if ($Given.ContainsKey('Raw') -and $Given['Raw']) {
            $answer
        } elseif ($DryRun) {
            $answer.plan
        } else {
            foreach ($record in @($answer.result)) {
                if ($Operation.Exists) { [bool] $record.exists } else { $record }
            }
        }
        if ($null -ne $answer.error) {
            $Caller.WriteError((New-AdgErrorRecord -Failure $answer.error))
            return
        }
        $values['After'] = $answer.next
        $nothingNew = $values.ContainsKey('Wait') -and @($answer.result).Count -eq 0 # with Wait there is always a next
    } while ($paged -and $null -ne $answer.next -and -not $nothingNew)
}
