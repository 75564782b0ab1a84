# AdGateway: functions for each operation of an adgateway server. Generated; see
# Get-Command -Module AdGateway, and Get-Help for each function.

$script:Connection = $null
$script:Warned = @{}

function Connect-AdGateway {
    # .SYNOPSIS
    # Sets the gateway and the credential for the functions of this module, and shows the caller.
    #
    # .DESCRIPTION
    # The address must be https, unless the gateway runs on this computer. This computer must trust the
    # certificate of the gateway; the check cannot be skipped. The token stays in memory as a SecureString
    # until Disconnect-AdGateway or the end of the session. Jobs and ForEach-Object -Parallel use separate
    # sessions, so connect in each of them.
    #
    # Without a token, a credential, or a certificate, the functions call as the account that is signed in to
    # this computer, if the gateway accepts Kerberos. In that case, use the full name of the gateway.
    #
    # .PARAMETER Uri
    # Address of the gateway, without /api, such as https://gateway.corp.example:8443
    #
    # .PARAMETER Token
    # Token, as a SecureString.
    #
    # .PARAMETER Credential
    # User name and password of a user of the gateway, instead of a token.
    #
    # .PARAMETER Certificate
    # Client certificate that identifies the caller, if the gateway requests one.
    #
    # .PARAMETER UseDefaultCredentials
    # Authenticates as the account that is signed in, if the server requests it. This is the default without
    # a token, a credential, or a certificate.
    #
    # .PARAMETER Proxy
    # Address of the proxy. By default, the module uses the proxy of the system.
    #
    # .PARAMETER ProxyCredential
    # User name and password for the proxy.
    #
    # .PARAMETER ProxyUseDefaultCredentials
    # Authenticates to the proxy as the account that is signed in.
    #
    # .PARAMETER NoProxy
    # Uses no proxy.
    #
    # .PARAMETER TimeoutSec
    # Time that a call can take, in seconds. A change that takes longer continues at the gateway.
    #
    # .PARAMETER RetrySec
    # Total time during which a call to a busy gateway is repeated, in seconds. The gateway sets the pauses. A change is
    # repeated only if nothing was done, or with an idempotency key. 0 means never.
    #
    # .EXAMPLE
    # Connect-AdGateway -Uri 'https://gateway.corp.example:8443' -Token (Read-Host -AsSecureString -Prompt 'Token')
    #
    # .EXAMPLE
    # Connect-AdGateway -Uri 'https://gateway.corp.example:8443' -Credential (Get-Credential)
    #
    # .EXAMPLE
    # Connect-AdGateway -Uri 'https://gateway.corp.example:8443'
    [CmdletBinding(DefaultParameterSetName = 'SignedIn', PositionalBinding = $false)]
    [OutputType('AdGateway.Caller')]
    param(
        [Parameter(Mandatory = $true, Position = 0)]
        [string] $Uri,

        [Parameter(Mandatory = $true, Position = 1, ParameterSetName = 'Token')]
        [System.Security.SecureString] $Token,

        [Parameter(Mandatory = $true, ParameterSetName = 'Credential')]
        [System.Management.Automation.PSCredential] $Credential,

        $Certificate,

        [switch] $UseDefaultCredentials,

        [string] $Proxy,

        [System.Management.Automation.PSCredential] $ProxyCredential,

        [switch] $ProxyUseDefaultCredentials,

        [switch] $NoProxy,

        [int] $TimeoutSec = 120,

        [int] $RetrySec = 60
    )
    process {
        $address = $Uri.TrimEnd('/')
        if ($address -notmatch '^https://[^/?#@ ]+(/[^?# ]*)?$' -and $address -notmatch '^http://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?(/[^?# ]*)?$') {
            $failure = @{ code = 'invalid_address'; message = "'$Uri' is not an address such as https://gateway.corp.example:8443. Without TLS, the token could be read in transit; http is allowed only for a gateway on this computer." }
            $PSCmdlet.ThrowTerminatingError((New-AdgErrorRecord -Failure $failure))
            return
        }
        $signedIn = [bool] $UseDefaultCredentials -or ($null -eq $Token -and $null -eq $Credential -and $null -eq $Certificate)
        $client = New-AdgClient -Options @{
            TimeoutSec = $TimeoutSec; Certificate = $Certificate; UseDefaultCredentials = $signedIn; Proxy = $Proxy
            ProxyCredential = $ProxyCredential; ProxyUseDefaultCredentials = $ProxyUseDefaultCredentials; NoProxy = $NoProxy
        }
        $before = $script:Connection
        $script:Connection = @{ Address = $address; Token = $Token; Credential = $Credential; RetrySec = $RetrySec; Client = $client }
        $answer = Send-AdgRequest -Caller $PSCmdlet -Row $script:Rows['caller.show'] -Path '/api/WhoAmI' -Values @{} -Headers @{}
        if ($null -ne $answer.Failure) {
            $script:Connection = $before
            $PSCmdlet.ThrowTerminatingError((New-AdgErrorRecord -Failure $answer.Failure))
            return
        }
        foreach ($record in @($answer.Body.result)) { Add-AdgMembers -Record $record -Row $script:Rows['caller.show'] -Answer $answer }
    }
}

function Disconnect-AdGateway {
    # .SYNOPSIS
    # Removes the address and the token of the gateway from this session.
    #
    # .EXAMPLE
    # Disconnect-AdGateway
    [CmdletBinding()]
    param()
    process {
        $script:Connection = $null
    }
}

# ConvertFrom-AdgSecret returns the text of a SecureString. The text is only used for a request.
function ConvertFrom-AdgSecret {
    [CmdletBinding()]
    param([System.Security.SecureString] $Secret)
    [System.Net.NetworkCredential]::new('', $Secret).Password
}

# ConvertTo-AdgPart returns a text in the form for a part of an address.
function ConvertTo-AdgPart {
    [CmdletBinding()]
    param([string] $Text)
    [System.Uri]::EscapeDataString($Text)
}

# New-AdgErrorRecord returns the error record for a failure. ErrorId is the code of the API, and TargetObject
# the error in the answer, with details, outcome and requestId.
function New-AdgErrorRecord {
    [CmdletBinding()]
    param($Failure)
    $category = $script:Categories[$Failure.code]
    if ($null -eq $category) { $category = 'NotSpecified' }
    $exception = [System.InvalidOperationException]::new($Failure.message)
    [System.Management.Automation.ErrorRecord]::new($exception, $Failure.code, $category, $Failure)
}

# Get-AdgAuthorization returns the header that identifies the caller, or nothing if the connection itself
# identifies the caller.
function Get-AdgAuthorization {
    [CmdletBinding()]
    param()
    if ($null -ne $script:Connection.Token) {
        'Bearer ' + (ConvertFrom-AdgSecret -Secret $script:Connection.Token)
    } elseif ($null -ne $script:Connection.Credential) {
        $text = $script:Connection.Credential.UserName + ':' + (ConvertFrom-AdgSecret -Secret $script:Connection.Credential.Password)
        'Basic ' + [System.Convert]::ToBase64String([System.Text.Encoding]::UTF8.GetBytes($text))
    }
}

# Get-AdgPause returns the number of seconds to wait before a call is repeated. It is the time in Retry-After,
# which may have a fraction, but not less than Least.
function Get-AdgPause {
    [CmdletBinding()]
    param([string] $Asked, [int] $Least)
    if ($Asked -notmatch '^[0-9]+(\.[0-9]+)?$') { return $Least }
    $whole = $Asked
    $dot = $Asked.IndexOf('.')
    if ($dot -ge 0) { $whole = $Asked.Substring(0, $dot) }
    if ($whole.Length -gt 6) { $whole = '999999' }
    $seconds = [int] $whole
    if ($dot -ge 0) { $seconds = $seconds + 1 }
    if ($seconds -gt $Least) { $seconds } else { $Least }
}

# Get-AdgWording returns a message of the gateway in the words of the module.
function Get-AdgWording {
    [CmdletBinding()]
    param($Row, $Failure)
    if ($Failure.code -eq 'unauthenticated' -and $null -eq $script:Connection.Token -and $null -eq $script:Connection.Credential) {
        return "The gateway does not accept the account that is signed in: $($Failure.message) Otherwise call Connect-AdGateway with -Token or -Credential."
    }
    if ($Failure.code -eq 'unauthenticated') {
        return 'The gateway does not accept the token or the password: call Connect-AdGateway with a valid one.'
    }
    $message = "$($Failure.message)"
    foreach ($name in $Row.Parameters.Keys) {
        $sent = $Row.Parameters[$name]
        if ($sent -cne $name -and $sent.IndexOf('_') -ge 0) { $message = $message.Replace($sent, $name) }
    }
    $message.Replace('Limit must', 'PageSize must').Replace('DryRun', 'WhatIf')
}

# Send-AdgRequest sends a request, and repeats it while the gateway is busy. It returns Body and Headers of
# the answer, or the Failure. An answer that does not come from a gateway, such as a page of a proxy, is a
# failure.
function Send-AdgRequest {
    [CmdletBinding()]
    param($Caller, $Row, [string] $Path, [hashtable] $Values, [hashtable] $Headers, [string] $List)
    $all = @{ 'Accept' = 'application/json' }
    $authorization = Get-AdgAuthorization
    if ("$authorization" -ne '') { $all['Authorization'] = $authorization }
    foreach ($name in $Headers.Keys) { $all[$name] = $Headers[$name] }
    $address = $script:Connection.Address + $Path
    $body = $List
    if ($Row.Method -eq 'GET' -or $Row.Method -eq 'DELETE') {
        $pairs = @(foreach ($name in $Values.Keys) { $name + '=' + (ConvertTo-AdgPart -Text (@($Values[$name]) -join ',')) })
        if ($pairs.Count -gt 0) { $address = $address + '?' + ($pairs -join '&') }
    } elseif ($Values.Count -gt 0) {
        $body = ConvertTo-Json -InputObject $Values -Compress -Depth 6
    }
    $repeatable = -not $Row.Writes -or $Headers.ContainsKey('Idempotency-Key')
    $left = $script:Connection.RetrySec
    $least = 1
    while ($true) {
        $answer = Send-AdgMessage -Client $script:Connection.Client -Method $Row.Method -Uri $address -Headers $all -Body $body
        $got = $answer.Headers
        if ($null -eq $got) { $got = @{} }
        $status = $answer.Status
        if ($null -eq $status) { $status = 0 }
        $parsed = $null
        if ("$($got['Content-Type'])" -match '^application/json') {
            try { $parsed = ConvertFrom-Json -InputObject $answer.Text } catch { $parsed = $null }
        }
        if ($status -ge 200 -and $status -lt 300 -and $null -ne $parsed -and $null -ne $parsed.PSObject.Properties['result']) {
            return @{ Body = $parsed; Headers = $got }
        }
        $failure = $parsed.error
        $busy = $false
        if ($null -ne $failure -and $null -ne $failure.code) {
            # The refusal of a busy gateway contains an outcome only if the change had begun.
            $busy = $script:Busy -contains $failure.code -and ($null -eq $failure.outcome -or $failure.outcome -eq 'none')
            $failure.message = Get-AdgWording -Row $Row -Failure $failure
        } else {
            $why = $answer.Problem
            if ($null -eq $why) { $why = "it was answered with status $status and something that no gateway sends." }
            $message = "The gateway at $($script:Connection.Address) gave no answer: $why"
            if ($Row.Writes) { $message = $message + ' A change may have been made: read the object, or repeat the call with the same -IdempotencyKey.' }
            $failure = @{ code = 'no_answer'; message = $message }
            $busy = $repeatable -and ($status -eq 0 -or $status -eq 502 -or $status -eq 503 -or $status -eq 504)
        }
        $pause = Get-AdgPause -Asked "$($got['Retry-After'])" -Least $least
        if (-not $busy -or $pause -gt $left) { return @{ Failure = $failure; Headers = $got } }
        $Caller.WriteVerbose("$($failure.message) The call is repeated after $pause s.")
        Start-Sleep -Seconds $pause
        $left = $left - $pause
        $least = $least * 2
        if ($least -gt 15) { $least = 15 }
    }
}

# Add-AdgMembers returns a record with its type names. To the record of a change it also adds the ids of the
# change.
function Add-AdgMembers {
    [CmdletBinding()]
    param($Record, $Row, $Answer)
    if ($null -eq $Record) { return }
    $names = $Record.PSObject.TypeNames
    if ($Row.Base -ne '') { $names.Insert(0, $Row.Base) }
    $names.Insert(0, $Row.Type)
    foreach ($name in $Row.Times) { # a text in Windows PowerShell
        $member = $Record.PSObject.Properties[$name]
        if ($member.Value -is [string] -and $member.Value -ne '') {
            $member.Value = [datetime]::Parse($member.Value, [cultureinfo]::InvariantCulture, [System.Globalization.DateTimeStyles]::RoundtripKind)
        }
    }
    $more = @{ 'etag' = $Answer.Headers['ETag'] }
    if ($Row.Writes) {
        $more['changeId'] = $Answer.Headers['X-Change-Id']
        $more['requestId'] = $Answer.Headers['X-Request-Id']
    }
    foreach ($name in $more.Keys) {
        if ($null -ne $more[$name] -and $null -eq $Record.PSObject.Properties[$name]) {
            $Record.PSObject.Properties.Add([System.Management.Automation.PSNoteProperty]::new($name, $more[$name]))
        }
    }
    $Record
}

# ConvertTo-AdgPlan returns a plan with the rows that its view shows, which have object, field, from and to.
function ConvertTo-AdgPlan {
    [CmdletBinding()]
    param($Plan, $Answer)
    if ($null -eq $Plan) { return }
    $rows = @(foreach ($object in @($Plan.objects)) {
        foreach ($change in @($object.changes)) {
            if ($null -ne $change) {
                [pscustomobject]@{ PSTypeName = 'AdGateway.PlanChange'; object = $object.distinguishedName; field = $change.field; from = $change.before; to = $change.after }
            }
        }
    })
    $Plan.PSObject.TypeNames.Insert(0, 'AdGateway.Plan')
    $Plan.PSObject.Properties.Add([System.Management.Automation.PSNoteProperty]::new('changes', $rows))
    $Plan.PSObject.Properties.Add([System.Management.Automation.PSNoteProperty]::new('planId', $Plan.id))
    $Plan.PSObject.Properties.Add([System.Management.Automation.PSNoteProperty]::new('requestId', $Answer.Headers['X-Request-Id']))
    $Plan
}

# ConvertTo-AdgFilter returns a filter in the language of the gateway. It translates filters in the style of
# the ActiveDirectory module, such as "Department -eq 'Sales' -and Enabled -eq $true".
function ConvertTo-AdgFilter {
    [CmdletBinding()]
    param([string] $Text)
    $split = @(Split-AdgFilter -Text $Text)
    if (@(foreach ($word in $split) { if ($word -match '^-[A-Za-z]') { $word } }).Count -eq 0) { return @{ Text = $Text } }
    $parts = [System.Collections.Generic.List[object]]::new()
    $operator = ''
    foreach ($word in $split) {
        $first = $word.Substring(0, 1)
        $key = $word.ToLowerInvariant()
        if ($first -eq '-' -and $script:FilterWords.ContainsKey($key)) {
            $operator = $key
            if ($key -ne '-like') { $parts.Add($script:FilterWords[$key]) }
        } elseif ($first -eq '-' -and $key -notmatch '^-[0-9]') {
            return @{ Problem = "the operator $word cannot be translated; use -eq, -ne, -like, -lt, -le, -gt, -ge, -and, -or, or -not" }
        } elseif ($first -eq "'" -or $first -eq '"') {
            if ($word.Length -lt 2 -or $word.Substring($word.Length - 1) -ne $first) { return @{ Problem = "a text has no closing $first" } }
            $value = $word.Substring(1, $word.Length - 2)
            if ($operator -eq '-like') {
                $bare = $value.Replace('*', '')
                $begins = $value.Length -gt 0 -and $value.Substring(0, 1) -eq '*'
                $ends = $value.Length -gt 0 -and $value.Substring($value.Length - 1, 1) -eq '*'
                if ($value -eq '*') {
                    $parts.Add('pr')
                    continue
                }
                $stars = $value.Length - $bare.Length
                if ($begins -and $ends -and $stars -eq 2) { $parts.Add('co') } elseif ($begins -and $stars -eq 1) { $parts.Add('ew') } elseif ($ends -and $stars -eq 1) { $parts.Add('sw') } elseif ($stars -eq 0) { $parts.Add('eq') } else {
                    return @{ Problem = "the pattern '$value' has a * in the middle, which cannot be translated; use * at the beginning, at the end, or both" }
                }
                $value = $bare
            }
            $parts.Add('"' + $value.Replace('\', '\\').Replace('"', '\"') + '"')
        } elseif ($key -eq '$true' -or $key -eq '$false') {
            $parts.Add($key.Substring(1))
        } elseif ($first -eq '$') {
            return @{ Problem = "$word is a variable: to use its value, write the filter in double quotes" }
        } elseif ($script:FilterNames.ContainsKey($key)) {
            $parts.Add($script:FilterNames[$key])
        } elseif ($first -match '^[A-Za-z]$') {
            $parts.Add($word.Substring(0, 1).ToLowerInvariant() + $word.Substring(1))
        } else {
            $parts.Add($word)
        }
    }
    @{ Text = ($parts.ToArray() -join ' ').Replace('( ', '(').Replace(' )', ')') }
}

# Split-AdgFilter returns the words of a filter. Texts keep their quotes.
function Split-AdgFilter {
    [CmdletBinding()]
    param([string] $Text)
    $word = ''
    $quote = ''
    foreach ($c in $Text.ToCharArray()) {
        $c = "$c"
        if ($quote -ne '') {
            $word = $word + $c
            if ($c -eq $quote) {
                $word
                $word = ''
                $quote = ''
            }
            continue
        }
        if ($c -eq "'" -or $c -eq '"' -or $c -eq ' ' -or $c -eq '(' -or $c -eq ')' -or $c -eq '{' -or $c -eq '}') {
            if ($word -ne '') { $word }
            $word = ''
            if ($c -eq '(' -or $c -eq ')') { $c }
            if ($c -eq "'" -or $c -eq '"') {
                $word = $c
                $quote = $c
            }
            continue
        }
        $word = $word + $c
    }
    if ($word -ne '') { $word }
}

# Get-AdgGiven returns the arguments of a function, by parameter name. From a record of the gateway, it takes
# only the members that identify the object and guard the change. An empty cell of a spreadsheet counts as
# absent. It warns once about columns that match no parameter.
function Get-AdgGiven {
    [CmdletBinding()]
    param($Caller, $Row, [hashtable] $Names, $Given, $Line, $Item, [hashtable] $Said)
    $found = @{}
    $piped = $Caller.MyInvocation.ExpectingInput -and $null -ne $Item -and -not ($Item -is [string])
    $record = $false
    if ($piped) { $record = @(foreach ($name in @($Item.PSObject.TypeNames)) { if ($name -like 'AdGateway.*') { $name } }).Count -gt 0 }
    foreach ($name in @($Given.Keys)) {
        $value = $Given[$name]
        if ($name -eq 'Filter' -and $value -eq '*') { continue }
        if (-not ($Line -contains $name)) {
            if ($null -eq $value -or "$value" -eq '') { continue }
            if ($record -and -not ($Row.Keys -contains $name)) { continue }
        }
        $found[$name] = $value
    }
    if ($piped -and -not $record) {
        $unused = @(foreach ($property in $Item.PSObject.Properties) {
            if (-not $Names.ContainsKey($property.Name)) { $property.Name }
        }) -join ', '
        if ($unused -ne '' -and -not $Said.ContainsKey($unused)) {
            $Said[$unused] = $true
            $Caller.WriteWarning("Not used, because no parameter of $($Caller.MyInvocation.InvocationName) accepts them from the pipeline: $unused.")
        }
    }
    $found
}

# Invoke-AdgOperation makes the call of a function, and writes records, warnings and errors on behalf of that
# function. It uses the preferences of the caller, not those of this module.
function Invoke-AdgOperation {
    [CmdletBinding()]
    param($Caller, [string] $Function, $Given, $Line, $Item, [hashtable] $Said)
    $variables = $Caller.SessionState.PSVariable
    if (-not $Given.ContainsKey('ErrorAction')) { $ErrorActionPreference = $variables.GetValue('ErrorActionPreference') }
    if (-not $Given.ContainsKey('WarningAction')) { $WarningPreference = $variables.GetValue('WarningPreference') }
    if (-not $Given.ContainsKey('Verbose')) { $VerbosePreference = $variables.GetValue('VerbosePreference') }
    if (-not $Given.ContainsKey('Confirm')) { $ConfirmPreference = $variables.GetValue('ConfirmPreference') }
    $dry = $variables.GetValue('WhatIfPreference')
    if ($Given.ContainsKey('WhatIf')) { $dry = $Given['WhatIf'] }
    $about = $script:Functions[$Function]
    $row = $script:Rows[$about.Sets[$Caller.ParameterSetName]]
    if ($about.Instead -ne '' -and -not $script:Warned.ContainsKey($Function)) {
        $script:Warned[$Function] = $true
        $Caller.WriteWarning("$Function is now $($about.Instead); the next version will not have the old name.")
    }
    if ($null -eq $script:Connection) {
        $failure = @{ code = 'not_connected'; message = 'There is no connection to a gateway: call Connect-AdGateway first.' }
        $Caller.ThrowTerminatingError((New-AdgErrorRecord -Failure $failure))
        return
    }
    $found = Get-AdgGiven -Caller $Caller -Row $row -Names $about.Names -Given $Given -Line $Line -Item $Item -Said $Said
    $problem = Get-AdgProblem -Row $row -Found $found
    if ($problem -ne '') {
        $Caller.WriteError((New-AdgErrorRecord -Failure @{ code = 'invalid_request'; message = $problem }))
        return
    }
    if ($found.ContainsKey('Filter')) {
        $filter = ConvertTo-AdgFilter -Text $found['Filter']
        if ($null -ne $filter.Problem) {
            $Caller.WriteError((New-AdgErrorRecord -Failure @{ code = 'invalid_request'; message = "-Filter: $($filter.Problem). For the filter language, see Get-Help about_AdGateway." }))
            return
        }
        $found['Filter'] = $filter.Text
    }
    foreach ($one in @(Expand-AdgNames -Row $row -Found $found)) {
        $target = @(foreach ($name in $row.Target) { if ($one.ContainsKey($name)) { $one[$name] } }) -join ', '
        if ($target -eq '') { $target = $row.Path }
        if ($row.Writes -and -not ($row.Dry -and $dry)) {
            $WhatIfPreference = $false
            if ($dry) { $WhatIfPreference = $true }
            if (-not ($Given['Force'] -and $row.Forces) -or $dry) {
                if (-not $Caller.ShouldProcess($target)) { continue }
            }
        }
        Invoke-AdgCall -Caller $Caller -Row $row -Found $one -DryRun ($row.Writes -and $dry)
    }
}

# Get-AdgProblem returns the problem with the arguments, or an empty text if there is none.
function Get-AdgProblem {
    [CmdletBinding()]
    param($Row, [hashtable] $Found)
    foreach ($name in $Row.Many) {
        if ("$($Found[$name])" -like '@{*') { return "-${name}: the object has no property that identifies it. Add one with Select-Object." }
    }
    foreach ($name in $Row.Flags) {
        if ($Found.ContainsKey($name) -and -not ($Found[$name] -is [bool]) -and -not ('true', 'false' -contains "$($Found[$name])")) {
            return "-${name}: '$($Found[$name])' is neither true nor false."
        }
    }
    if ($Found.ContainsKey('PageSize')) {
        if ($Found.ContainsKey('Limit')) { return '-PageSize reads all pages, and -Limit reads at most that many records; use only one of them.' }
        if ($Found['PageSize'] -lt 1 -or $Found['PageSize'] -gt 1000) { return '-PageSize must be from 1 to 1000.' }
    }
    ''
}

# Expand-AdgNames returns a table for each combination of the names in arrays.
function Expand-AdgNames {
    [CmdletBinding()]
    param($Row, [hashtable] $Found)
    $all = @($Found)
    foreach ($name in $Row.Many) {
        if (-not $Found.ContainsKey($name)) { continue }
        $all = @(foreach ($table in $all) {
            foreach ($value in @($table[$name])) {
                $copy = @{}
                foreach ($key in @($table.Keys)) { $copy[$key] = $table[$key] }
                $copy[$name] = $value
                $copy
            }
        })
    }
    $all
}

# Invoke-AdgCall makes one call, or a call for each page.
function Invoke-AdgCall {
    [CmdletBinding()]
    param($Caller, $Row, [hashtable] $Found, [bool] $DryRun)
    $path = $Row.Path
    $values = @{}
    foreach ($name in @($Row.Parameters.Keys)) {
        if (-not $Found.ContainsKey($name)) { continue }
        $value = $Found[$name]
        if ($value -is [System.Security.SecureString]) { $value = ConvertFrom-AdgSecret -Secret $value }
        if ($value -is [bool] -or $value -is [switch]) { $value = "$value".ToLowerInvariant() }
        if ($value -is [datetime]) { $value = $value.ToUniversalTime().ToString('o') }
        $place = $Row.Places[$name]
        if ($null -eq $place) {
            $values[$Row.Parameters[$name]] = $value
        } else {
            $path = $path.Replace('{' + $place + '}', (ConvertTo-AdgPart -Text $value))
        }
    }
    if ($DryRun) { $values['DryRun'] = 'true' }
    $headers = @{}
    if ($Found.ContainsKey('IdempotencyKey')) { $headers['Idempotency-Key'] = $Found['IdempotencyKey'] }
    if ($Found.ContainsKey('IfMatch')) { $headers['If-Match'] = $Found['IfMatch'] }
    if ($Found['OnlyIfNew']) { $headers['If-None-Match'] = '*' }
    $paged = $Row.Paged -and -not $Found.ContainsKey('Limit') -and -not $Found.ContainsKey('After') -and ($Found.ContainsKey('PageSize') -or -not $Found.ContainsKey('Wait'))
    if ($paged) {
        $values['Limit'] = 1000
        if ($Found.ContainsKey('PageSize')) { $values['Limit'] = $Found['PageSize'] }
    }
    do {
        $answer = Send-AdgRequest -Caller $Caller -Row $Row -Path $path -Values $values -Headers $headers
        if ($null -ne $answer.Failure) {
            $Caller.WriteError((New-AdgErrorRecord -Failure $answer.Failure))
            return
        }
        $body = $answer.Body
        $Caller.WriteVerbose("$($body.output)")
        if ($Row.Writes -and $null -ne $answer.Headers['X-Change-Id']) { $Caller.WriteVerbose("Change: $($answer.Headers['X-Change-Id'])") }
        foreach ($warning in @($body.warnings)) {
            if ($null -ne $warning -and -not ($paged -and $null -ne $body.next)) { $Caller.WriteWarning($warning.message) }
        }
        if ($Found['Raw']) {
            foreach ($name in @('ETag', 'X-Change-Id', 'X-Request-Id')) {
                $member = $name.Replace('X-', '').Replace('-', '')
                if ($null -ne $answer.Headers[$name]) { $body.PSObject.Properties.Add([System.Management.Automation.PSNoteProperty]::new($member, $answer.Headers[$name])) }
            }
            $body
        } elseif ($DryRun) {
            ConvertTo-AdgPlan -Plan $body.plan -Answer $answer
        } elseif ($Row.Exists) {
            foreach ($record in @($body.result)) { $record.exists -eq $true }
        } elseif (-not $Row.Quiet -or $Found['PassThru']) {
            foreach ($record in @($body.result)) { Add-AdgMembers -Record $record -Row $Row -Answer $answer }
        }
        if ($null -ne $body.error) {
            $body.error.message = Get-AdgWording -Row $Row -Failure $body.error
            $Caller.WriteError((New-AdgErrorRecord -Failure $body.error))
            return
        }
        $values['After'] = $body.next
        $nothingNew = $Found.ContainsKey('Wait') -and @($body.result).Count -eq 0 # with Wait, every answer has a next
    } while ($paged -and $null -ne $body.next -and -not $nothingNew)
}
