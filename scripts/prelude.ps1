# Functions shared by all scripts of the gateway. A session loads this text once, and then the scripts as functions.
# It runs unchanged in Windows PowerShell 5.1, PowerShell 7 and the sandbox engine. Every function is named
# Verb-GatewayNoun, because an alias would take precedence over a shorter name. Values that must not be logged are
# never parameters of a command, because module logging and transcripts record parameters (facts-5.1 K3). The line
# of the request and its secrets are therefore passed in variables.

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$WarningPreference = 'SilentlyContinue'
$VerbosePreference = 'SilentlyContinue'
$DebugPreference = 'SilentlyContinue'
$InformationPreference = 'SilentlyContinue'
$ConfirmPreference = 'None'

$GatewayUtf8 = [System.Text.UTF8Encoding]::new($false)
$GatewayStdout = [Console]::OpenStandardOutput()
$GatewayFrameStart = [string][char]30
$GatewayLineFeed = [string][char]10
$GatewayBatchSize = 500
$GatewayInvariant = [System.Globalization.CultureInfo]::InvariantCulture
$GatewayDateFormat = 'yyyy-MM-ddTHH:mm:ssZ'
$GatewayDomains = @{}

$script:GatewayLine = ''
$script:GatewaySecrets = @()
$script:GatewayRevealed = [System.Collections.Generic.List[object]]::new()
$script:GatewayId = '?'
$script:GatewayHeld = ''
$script:GatewayStep = ''
$script:GatewayArg = ''
$script:GatewayState = $null
$script:GatewayEffect = 'none'
$script:GatewayOutside = $false
$script:GatewayDetail = @()
$script:GatewayAllowed = @{}
$script:GatewayCounts = @{}
$script:GatewayIntents = [System.Collections.Generic.List[object]]::new()
$script:GatewayUndo = [System.Collections.Generic.List[object]]::new()
$script:GatewayWarnings = [System.Collections.Generic.List[object]]::new()
$script:GatewayChanges = [System.Collections.Generic.List[object]]::new()
$script:GatewayCreated = [System.Collections.Generic.List[object]]::new()
$script:GatewayFailures = [System.Collections.Generic.List[object]]::new()

#region Frames and the request loop

# Writes one frame: 0x1E, id, kind, payload length in bytes, LF, payload, LF. With Hold, the frame is sent together
# with the next one, because each write is a system call and wakes the reader.
function Write-GatewayFrame {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Id,
        [Parameter(Mandatory)] [string] $Kind,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Payload,
        [switch] $Hold
    )
    $size = $GatewayUtf8.GetByteCount($Payload)
    $head = "$GatewayFrameStart$Id $Kind $size$GatewayLineFeed"
    $script:GatewayHeld = [string]::Concat($script:GatewayHeld, $head, $Payload, $GatewayLineFeed)
    if ($Hold) { return }
    $frames = $GatewayUtf8.GetBytes($script:GatewayHeld)
    $script:GatewayHeld = ''
    $GatewayStdout.Write($frames, 0, $frames.Length)
    $GatewayStdout.Flush()
}

# Converts a decoded JSON value to the argument of a script. Strings have a prefix, so that no text is read as a
# date (facts B31): '=' precedes a text, '!' the number of a secret, and ',' a list, with the separator of its items
# and then the items. An array is an empty list, or a list for which there was no separator.
function ConvertFrom-GatewayValue {
    [CmdletBinding()]
    param([AllowNull()] [object] $Value)
    if ($Value -is [System.Array]) { return , [string[]]@(foreach ($item in $Value) { $item.Substring(1) }) }
    if ($Value -isnot [string]) { return $Value }
    if ($Value[0] -eq ',') { return , $Value.Substring(2).Split([char]$Value[1]) }
    if ($Value[0] -eq '!') { return $script:GatewaySecrets[[int]$Value.Substring(1)] }
    return $Value.Substring(1)
}

# Converts the decoded arguments of a script.
function ConvertFrom-GatewayArgument {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Argument)
    $arguments = @{}
    foreach ($property in $Argument.PSObject.Properties) {
        $arguments[$property.Name] = ConvertFrom-GatewayValue -Value $property.Value
    }
    $arguments
}

# Returns the number of an error as text, which is a Win32 code of the directory ('8333') or of DNS ('9601'), or ''
# if it has none. Messages are localized and never read (facts D3).
function Get-GatewayErrorCode {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $cursor = $Record.Exception
    while ($null -ne $cursor) {
        $names = $cursor.PSObject.Properties.Name
        if ($names -contains 'ErrorCode') { return [string]$cursor.ErrorCode }
        if ($names -contains 'MessageId') {
            $native = [string]$cursor.MessageId
            if ($native.StartsWith('WIN32 ', [System.StringComparison]::Ordinal)) { $native = $native.Substring(6) }
            return $native
        }
        $cursor = $cursor.InnerException
    }
    return ''
}

# Returns the Win32 code in an HRESULT that contains one, as in errors of ADSI.
function Get-GatewayWin32Code {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyString()] [string] $Code)
    if ($Code -notmatch '^-[0-9]{1,10}$') { return $Code }
    $number = [long]$Code + 4294967296
    if ($number -lt 2147942400 -or $number -gt 2148007935) { return $Code } # 0x80070000 to 0x8007FFFF
    [string]($number - 2147942400)
}

# Selects the parts of an error that the gateway needs.
function Get-GatewayErrorInfo {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $exception = $Record.Exception
    $code = ''
    $native = ''
    $server = ''
    $inner = ''
    $fault = ''
    $cursor = $exception
    while ($null -ne $cursor) {
        $names = $cursor.PSObject.Properties.Name
        $type = [string]$cursor.GetType().FullName.Split([char]96)[0]
        # The number of a socket error is not one of the directory.
        if ($code -eq '' -and $names -contains 'ErrorCode' -and $type -ne 'System.Net.Sockets.SocketException') {
            $code = [string]$cursor.ErrorCode
        }
        # An error that the web service reports without a number has a name in the fault (facts D14).
        if ($fault -eq '' -and $type -eq 'System.ServiceModel.FaultException') {
            foreach ($name in @($cursor.Code.SubCode.Name, $cursor.Detail.DirectoryError.ShortMessage, $cursor.Detail.ShortError)) {
                if ([string]$name -ne '') { $fault = [string]$name }
            }
        }
        if ($native -eq '' -and $names -contains 'MessageId') { $native = [string]$cursor.MessageId }
        if ($server -eq '' -and $names -contains 'ServerErrorMessage') { $server = [string]$cursor.ServerErrorMessage }
        $cursor = $cursor.InnerException
    }
    $code = Get-GatewayWin32Code -Code $code
    # The exception of a method is the inner exception of its call. A directory entry connects when one of its
    # members is looked up, so its exception is the inner one of the look-up (facts F21).
    while ($exception -is [System.Management.Automation.ExtendedTypeSystemException] -and $null -ne $exception.InnerException) {
        $exception = $exception.InnerException
    }
    if ($null -ne $exception.InnerException) { $inner = [string]$exception.InnerException.GetType().FullName.Split([char]96)[0] }
    $id = [string]$Record.FullyQualifiedErrorId
    $gateway = ''
    $arg = [string]$script:GatewayArg
    if ($id -like 'Gateway.*') {
        $gateway = $id.Substring(8)
        $arg = [string]$Record.TargetObject
    }
    [ordered]@{
        step     = [string]$script:GatewayStep
        type     = [string]$exception.GetType().FullName
        id       = $id
        category = [string]$Record.CategoryInfo.Category
        code     = [string]$code
        inner    = $inner
        fault    = $fault
        native   = $native
        message  = [string]$exception.Message
        server   = $server
        line     = [int]$Record.InvocationInfo.ScriptLineNumber
        gateway  = [string]$gateway
        arg      = $arg
    }
}

# Undoes the steps of a failed request, the last one first. Returns the steps that could not be undone.
function Undo-GatewayStep {
    [CmdletBinding()]
    param()
    for ($i = $script:GatewayUndo.Count - 1; $i -ge 0; $i--) {
        $step = $script:GatewayUndo[$i]
        $done = $false
        if ($null -ne $step.action) {
            try {
                $arguments = $step.arguments
                & $step.action @arguments | Out-Null
                $done = $true
            } catch {
                $done = $false
            }
        }
        if (-not $done) { [ordered]@{ guid = [string]$step.guid; dn = [string]$step.dn } }
    }
}

# Keeps a secret for the answer, and returns the placeholder for it in a record. The text is not passed as a
# parameter, because parameters are logged.
function Add-GatewaySecret {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [securestring] $Secret)
    $script:GatewayRevealed.Add($Secret)
    '!' + [string]($script:GatewayRevealed.Count - 1)
}

# Writes the secrets to which records refer in a separate frame. Each is encoded in base64, with blanks between
# them. Only methods see them in clear text, because parameters of commands are logged.
function Write-GatewaySecret {
    [CmdletBinding()]
    param()
    $packed = ''
    foreach ($secret in $script:GatewayRevealed) {
        $plain = $GatewayUtf8.GetBytes([System.Net.NetworkCredential]::new('', $secret).Password)
        $packed = [string]::Concat($packed, ' ', [Convert]::ToBase64String($plain), '')
    }
    $packed = $packed.Substring(1)
    $id = $script:GatewayId
    $size = $packed.Length
    $head = "$GatewayFrameStart$id secrets $size$GatewayLineFeed"
    $text = [string]::Concat($script:GatewayHeld, $head, $packed, $GatewayLineFeed)
    $script:GatewayHeld = ''
    $frames = $GatewayUtf8.GetBytes($text)
    $GatewayStdout.Write($frames, 0, $frames.Length)
    $GatewayStdout.Flush()
}

# Runs the request in $script:GatewayLine, which is '#' and base64 JSON, then a space and base64 for each secret. A
# script emits records (ordered dictionaries of cast values). All other results are passed in the state below.
function Invoke-GatewayRequest {
    [CmdletBinding()]
    param()
    $id = '?'
    $script:GatewayId = '?'
    $script:GatewayStep = 'decode'
    $script:GatewayArg = ''
    $script:GatewayEffect = 'none'
    $script:GatewayOutside = $false
    $script:GatewayDetail = @()
    $script:GatewayAllowed = @{}
    $script:GatewayCounts = @{}
    $script:GatewayRevealed.Clear()
    $script:GatewayIntents.Clear()
    $script:GatewayUndo.Clear()
    $script:GatewayWarnings.Clear()
    $script:GatewayChanges.Clear()
    $script:GatewayCreated.Clear()
    $script:GatewayFailures.Clear()
    try {
        $parts = $script:GatewayLine.Substring(1).Split([char]32)
        $script:GatewayLine = ''
        $secrets = [System.Collections.Generic.List[object]]::new()
        for ($i = 1; $i -lt $parts.Length; $i++) {
            $secrets.Add([System.Net.NetworkCredential]::new('', $GatewayUtf8.GetString([Convert]::FromBase64String($parts[$i]))).SecurePassword)
            $parts[$i] = ''
        }
        $script:GatewaySecrets = $secrets.ToArray()
        $request = ConvertFrom-Json -InputObject ($GatewayUtf8.GetString([Convert]::FromBase64String($parts[0])))
        $id = $request.id.Substring(1)
        $script:GatewayId = $id
        $name = $request.script.Substring(1)
        $script:GatewayState = $request.state
        $arguments = ConvertFrom-GatewayArgument -Argument $request.arguments
        $script:GatewayStep = 'run'
        $batch = [System.Collections.Generic.List[object]]::new()
        & $name @arguments | ForEach-Object -Process {
            $batch.Add($_)
            if ($batch.Count -ge $GatewayBatchSize) {
                Write-GatewayFrame -Id $id -Kind 'records' -Payload (ConvertTo-Json -InputObject $batch.ToArray() -Compress -Depth 4)
                $batch.Clear()
            }
        }
        if ($batch.Count -gt 0) {
            Write-GatewayFrame -Id $id -Kind 'records' -Payload (ConvertTo-Json -InputObject $batch.ToArray() -Compress -Depth 4) -Hold
        }
        if ($script:GatewayRevealed.Count -gt 0) { Write-GatewaySecret }
        $end = [ordered]@{
            effect   = $script:GatewayEffect
            warnings = $script:GatewayWarnings.ToArray()
            changes  = $script:GatewayChanges.ToArray()
            created  = $script:GatewayCreated.ToArray()
            counts   = $script:GatewayCounts
            failures = $script:GatewayFailures.ToArray()
            outside  = [bool]$script:GatewayOutside
        }
        Write-GatewayFrame -Id $id -Kind 'end' -Payload (ConvertTo-Json -InputObject $end -Compress -Depth 6)
    } catch {
        $info = Get-GatewayErrorInfo -Record $_
        $info['outcome'] = 'none'
        $info['remains'] = @()
        $info['outside'] = [bool]$script:GatewayOutside
        $info['details'] = [string[]]@(foreach ($text in $script:GatewayDetail) { if ($text) { $text } })
        if ($script:GatewayEffect -ne 'none') {
            $info['outcome'] = 'done'
        } else {
            $remains = @(Undo-GatewayStep)
            if ($remains.Count -gt 0) {
                $info['outcome'] = 'partial'
                $info['remains'] = $remains
            }
        }
        Write-GatewayFrame -Id $id -Kind 'error' -Payload (ConvertTo-Json -InputObject $info -Compress -Depth 4)
    } finally {
        $script:GatewaySecrets = @()
        $script:GatewayRevealed.Clear()
        $script:GatewayUndo.Clear()
        $Error.Clear()
    }
}

# The request loop. It reads one data line for each request, and '#' alone ends it.
function Start-GatewayLoop {
    [CmdletBinding()]
    param()
    while ($true) {
        $line = [Console]::In.ReadLine()
        if ($null -eq $line) { return }
        if ($line.Length -eq 0) { continue }
        if ($line -eq '#') { return }
        $script:GatewayLine = $line
        $line = ''
        Invoke-GatewayRequest
    }
}

# Loads the lane's module, reports the environment, and serves requests until the gateway ends the loop.
function Start-GatewaySession {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Module)
    $script:GatewayStep = 'import module'
    try {
        Import-Module -Name $Module
        $loaded = @(Get-Module -Name $Module)[0]
        # PowerShell 7 loads an incompatible module in a background Windows PowerShell. Its commands are
        # then proxies that return copies, without types and error numbers.
        $private = $loaded.PrivateData
        $script:GatewayStep = 'ready'
        $ready = [ordered]@{
            powershell    = [string]$PSVersionTable.PSVersion
            edition       = [string]$PSVersionTable.PSEdition
            module        = [string]$loaded.Name
            moduleVersion = [string]$loaded.Version
            languageMode  = [string]$ExecutionContext.SessionState.LanguageMode
            proxied       = [bool]($private -is [hashtable] -and $private.ContainsKey('ImplicitRemoting'))
            pid           = [int]$PID
            culture       = [string][System.Globalization.CultureInfo]::CurrentUICulture.Name
        }
        $Error.Clear()
        Write-GatewayFrame -Id 'boot' -Kind 'ready' -Payload (ConvertTo-Json -InputObject $ready -Compress)
    } catch {
        Write-GatewayFrame -Id 'boot' -Kind 'error' -Payload (ConvertTo-Json -InputObject (Get-GatewayErrorInfo -Record $_) -Compress)
        return
    }
    Start-GatewayLoop
}

#endregion

#region Reporting of changes

# Sets the label of the next step, and the argument that it concerns, for errors in this step.
function Set-GatewayStep {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Label, [string] $Arg)
    $script:GatewayStep = $Label
    $script:GatewayArg = $Arg
}

# Returns the names of an object of the directory that are not part of its distinguished name: account, UPN, SID and
# name.
function Get-GatewayKnownName {
    [CmdletBinding()]
    param([AllowNull()] [object] $Of)
    if ($null -eq $Of) { return }
    foreach ($name in @($Of.SamAccountName, $Of.UserPrincipalName, $Of.SID, $Of.objectSid, $Of.Name)) {
        if ([string]$name -ne '') { [string]$name }
    }
}

# Adds an object that the script is about to change to the intent, so that a write that is cut off can be settled.
# An object without a GUID is found by its account, or by name and parent. Creates and Removes mean that the object
# is created or removed. Other changes are added with Add-GatewayIntent. Record is the last record of a removed
# object. Also contains the texts that a new object gets in its first step, for reviewers of the change, and never a
# secret. Image contains all data that is needed to restore an object that is removed or replaced, regardless of the
# answer. Of is the object as it was found, for the names by which the history finds it.
function New-GatewayIntent {
    [CmdletBinding()]
    param(
        [string] $Guid,
        [string] $Dn,
        [string] $Account,
        [string] $Principal,
        [string] $Name,
        [string] $Parent,
        [switch] $Creates,
        [switch] $Removes,
        [AllowNull()] [System.Collections.IDictionary] $Record,
        [AllowNull()] [System.Collections.IDictionary] $Image,
        [AllowNull()] [System.Collections.IDictionary] $Also,
        [AllowNull()] [object] $Of
    )
    $names = @()
    $class = ''
    if ($null -ne $Of) {
        $names = @(Get-GatewayKnownName -Of $Of)
        $class = [string]$Of.ObjectClass
    }
    $script:GatewayIntents.Add([ordered]@{
            guid = $Guid; dn = $Dn; class = $class; account = $Account; principal = $Principal; name = $Name; parent = $Parent
            record = $Record; image = $Image; also = $Also; names = [string[]]$names; changes = @()
        })
    if ($Creates) { Add-GatewayIntent -Name 'exists' -Before 'False' -After 'True' }
    if ($Removes) { Add-GatewayIntent -Name 'exists' -Before 'True' -After 'False' }
}

# Adds the new value of a property of the last object, in the order of the steps. A property that must be restored
# is added, too. Renewed is for a value that the server chooses: every other value is right, or only After unless
# that is ''. Step is the label of a step whose completion proves the change.
function Add-GatewayIntent {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Before,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $After,
        [switch] $Renewed,
        [string] $Step
    )
    $intent = $script:GatewayIntents[$script:GatewayIntents.Count - 1]
    $change = [ordered]@{ name = $Name; before = $Before; after = $After; renewed = [bool]$Renewed; step = $Step }
    $intent['changes'] = @($intent['changes']) + @($change)
}

# Returns the current record of the first announced object, as JSON. It comes from the script that the request names
# for reading it.
function Get-GatewayState {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $State)
    $step = $script:GatewayStep
    $name = $State.script.Substring(1)
    $arguments = ConvertFrom-GatewayArgument -Argument $State.arguments
    $identity = $State.identity.Substring(1)
    if ($identity -ne '') { $arguments[$identity] = [string]$script:GatewayIntents[0]['guid'] }
    $record = @(& $name @arguments)
    Set-GatewayStep -Label $step
    ConvertTo-Json -InputObject $record[0] -Compress -Depth 4
}

# Announces the intent and waits for the gateway's '+', which the gateway sends once it has recorded the
# announcement. The request may change something only after this call, so a request that is cut off without an
# announcement has changed nothing.
function Write-GatewayIntent {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [ValidateSet('created', 'changed', 'removed')] [string] $Effect)
    $intent = [ordered]@{
        effect   = $Effect
        objects  = $script:GatewayIntents.ToArray()
        warnings = $script:GatewayWarnings.ToArray()
        counts   = $script:GatewayCounts
    }
    if ($null -ne $script:GatewayState) { $intent['state'] = [string](Get-GatewayState -State $script:GatewayState) }
    Write-GatewayFrame -Id $script:GatewayId -Kind 'intent' -Payload (ConvertTo-Json -InputObject $intent -Compress -Depth 6)
    $answer = [Console]::In.ReadLine()
    if ($answer -ne '+') { Stop-Gateway -Code 'unavailable' -Message 'The gateway did not allow the change.' }
}

# Reports that a change has taken effect, and how to undo it if a later step fails.
# Undo is a script block with a param block; Arguments are its arguments.
function Complete-GatewayStep {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Label,
        [string] $Guid,
        [string] $Dn,
        [AllowNull()] [scriptblock] $Undo,
        [hashtable] $Arguments = @{}
    )
    $script:GatewayUndo.Add(@{ action = $Undo; arguments = $Arguments; guid = $Guid; dn = $Dn })
    $payload = ConvertTo-Json -Compress -InputObject ([ordered]@{ label = $Label; guid = $Guid; dn = $Dn })
    Write-GatewayFrame -Id $script:GatewayId -Kind 'step' -Payload $payload
}

# Reports that all steps are done. The rest of the script only reads, and if it fails, nothing is undone.
function Complete-GatewayChange {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [ValidateSet('created', 'changed', 'removed')] [string] $Effect)
    $script:GatewayEffect = $Effect
    $script:GatewayUndo.Clear()
    Set-GatewayStep -Label 'report'
}

# Records the changes of one object for the audit. Secrets appear as '***'.
function Add-GatewayChange {
    [CmdletBinding()]
    param(
        [string] $Guid,
        [string] $Dn,
        [Parameter(Mandatory)] [AllowNull()] [System.Collections.IDictionary] $Before,
        [Parameter(Mandatory)] [AllowNull()] [System.Collections.IDictionary] $After
    )
    if ($null -eq $Before) { $Before = @{} }
    if ($null -eq $After) { $After = @{} }
    $script:GatewayChanges.Add([ordered]@{ guid = $Guid; dn = $Dn; before = $Before; after = $After })
}

# Gives the history the names and the properties of a new object, regardless of the answer. Of is the object as it
# was read after its creation, and Image its state at that time.
function Add-GatewayCreated {
    [CmdletBinding()]
    param([string] $Guid, [AllowNull()] [object] $Of, [AllowNull()] [System.Collections.IDictionary] $Image)
    $script:GatewayCreated.Add([ordered]@{ guid = $Guid; names = [string[]]@(Get-GatewayKnownName -Of $Of); image = $Image })
}

# Reports that one object of a bulk operation failed. The script continues with the others.
function Add-GatewayFailure {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Record,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Guid,
        [Parameter(Mandatory)] [string] $Dn
    )
    $script:GatewayFailures.Add([ordered]@{ guid = $Guid; dn = $Dn; error = (Get-GatewayErrorInfo -Record $Record) })
}

# Reports something that was omitted or skipped.
function Add-GatewayWarning {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Code,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Target,
        [Parameter(Mandatory)] [string] $Message
    )
    $script:GatewayWarnings.Add([ordered]@{ code = $Code; target = $Target; message = $Message })
}

# Ends the request with an error code of the API and a sentence for the caller. Arg is the wrong parameter of the
# script. Detail contains further sentences, such as the objects that could be meant.
function Stop-Gateway {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Code,
        [Parameter(Mandatory)] [string] $Message,
        [string] $Arg,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $Detail
    )
    $script:GatewayDetail = @($Detail)
    $category = 'InvalidOperation'
    if ($Code -eq 'not_found') { $category = 'ObjectNotFound' }
    if ($Code -eq 'conflict') { $category = 'ResourceExists' }
    if ($Code -eq 'limit' -or $Code -eq 'forbidden') { $category = 'PermissionDenied' }
    $exception = [System.InvalidOperationException]::new($Message)
    throw [System.Management.Automation.ErrorRecord]::new($exception, ('Gateway.' + $Code), $category, $Arg)
}

#endregion

#region Values

# Escapes values for an LDAP filter (RFC 4515).
function Get-GatewayLdapEscaped {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowNull()] [AllowEmptyString()] [AllowEmptyCollection()] [string[]] $Value)
    foreach ($text in $Value) {
        $text.Replace('\', '\5c').Replace('*', '\2a').Replace('(', '\28').Replace(')', '\29').Replace([string][char]0, '\00')
    }
}

# Returns a GUID in the form for LDAP filters, with each of its bytes escaped (facts C13).
function Get-GatewayGuidEscaped {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [guid] $Guid)
    '\' + [System.BitConverter]::ToString($Guid.ToByteArray()).Replace('-', '\')
}

# Returns the distinguished name of an object's parent.
function Get-GatewayParentDn {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Dn)
    $Dn -replace '^(?:[^,\\]|\\.)+,', ''
}

#endregion
