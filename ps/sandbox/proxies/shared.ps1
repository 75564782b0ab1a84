# The functions of this module call the sandbox with the code in this file. Work that PowerShell cannot do is in the
# types of AdGateway.Sandbox. All texts from the sandbox begin with '=', because ConvertFrom-Json mistakes some
# texts for dates (facts B31). The sandbox itself never does.

# Parameters that the functions handle themselves because they are PowerShell's own.
$SandboxOwnParameters = @(
    'Verbose', 'Debug', 'ErrorAction', 'WarningAction', 'InformationAction', 'ProgressAction', 'ErrorVariable', 'WarningVariable'
    'InformationVariable', 'OutVariable', 'OutBuffer', 'PipelineVariable', 'WhatIf', 'Confirm'
)

# The number types other than Int32.
$SandboxNumbers = @{
    'System.Int64' = 'long'; 'System.Byte' = 'byte'; 'System.SByte' = 'sbyte'; 'System.Int16' = 'short'; 'System.UInt16' = 'ushort'
    'System.UInt32' = 'uint'; 'System.UInt64' = 'ulong'; 'System.Double' = 'double'; 'System.Decimal' = 'decimal'
}

$SandboxInvariant = [System.Globalization.CultureInfo]::InvariantCulture

# Returns a text as JSON. Characters that JSON allows are unchanged, and others are written as UTF-16 units.
function ConvertTo-SandboxText {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyString()] [string] $Text)
    if ($Text -cnotmatch '[\x00-\x1f\ud800-\udfff]') {
        return '"' + $Text.Replace('\', '\\').Replace('"', '\"') + '"'
    }
    $units = foreach ($unit in $Text.ToCharArray()) { [string][int]$unit }
    '{"t":"units","v":[' + ($units -join ',') + ']}'
}

# Returns values as JSON, with commas between them.
function ConvertTo-SandboxList {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [object[]] $Items)
    $parts = foreach ($item in $Items) { ConvertTo-SandboxJson -Value $item }
    $parts -join ','
}

# Returns, as JSON, an object that came from the sandbox or was made from a text.
function ConvertTo-SandboxInstance {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Value)
    $given = [AdGateway.Sandbox.Kit]::GivenOf($Value)
    if ($null -ne $given) { return (ConvertTo-SandboxText -Text $given) }
    $pairs = [System.Collections.Generic.List[object]]::new()
    foreach ($property in $Value.PSObject.Properties) {
        $pairs.Add($property.Name)
        $pairs.Add($property.Value)
    }
    $json = '{"t":"instance","n":' + (ConvertTo-SandboxText -Text ([AdGateway.Sandbox.Kit]::TypeOf($Value)))
    $text = ConvertTo-SandboxText -Text ([string][AdGateway.Sandbox.Kit]::TextOf($Value))
    if ($text.StartsWith('"', [System.StringComparison]::Ordinal)) { $json = $json + ',"x":' + $text }
    $id = [AdGateway.Sandbox.Kit]::IdOf($Value)
    if ($id -ne 0) { $json = $json + ',"id":' + [Convert]::ToString($id, $SandboxInvariant) }
    $json + ',"v":[' + (ConvertTo-SandboxList -Items $pairs.ToArray()) + ']}'
}

# Returns a value of a parameter as JSON.
function ConvertTo-SandboxJson {
    [CmdletBinding()]
    param([AllowNull()] [object] $Value)
    if ($null -eq $Value) { return 'null' }
    if ($Value -is [string]) { return (ConvertTo-SandboxText -Text $Value) }
    if ($Value -is [bool] -or $Value -is [switch]) {
        if ($Value) { return 'true' }
        return 'false'
    }
    if ($Value -is [int]) { return [Convert]::ToString($Value, $SandboxInvariant) }
    if ($Value -is [enum]) { return (ConvertTo-SandboxText -Text ([string]$Value)) }
    $type = $Value.GetType().FullName
    if ($SandboxNumbers.ContainsKey($type)) {
        return '{"t":"' + $SandboxNumbers[$type] + '","v":"' + [Convert]::ToString($Value, $SandboxInvariant) + '"}'
    }
    if ($Value -is [guid]) { return '{"t":"guid","v":"' + $Value.ToString() + '"}' }
    if ($Value -is [datetime]) {
        return '{"t":"datetime","v":["' + [Convert]::ToString($Value.Ticks, $SandboxInvariant) + '",' + [int]$Value.Kind + ']}'
    }
    if ($Value -is [timespan]) { return '{"t":"timespan","v":"' + [Convert]::ToString($Value.Ticks, $SandboxInvariant) + '"}' }
    if ($Value -is [byte[]]) { return '{"t":"bytes","v":"' + [Convert]::ToBase64String($Value) + '"}' }
    if ($Value -is [securestring]) {
        $bytes = [System.Text.Encoding]::UTF8.GetBytes([AdGateway.Sandbox.Kit]::Reveal($Value))
        return '{"t":"secret","v":"' + [Convert]::ToBase64String($bytes) + '"}'
    }
    if ($Value -is [pscredential]) {
        return '{"t":"credential","v":[' + (ConvertTo-SandboxList -Items @($Value.UserName, $Value.Password)) + ']}'
    }
    if ([AdGateway.Sandbox.Kit]::IsEntity($Value)) { return (ConvertTo-SandboxInstance -Value $Value) }
    if ($Value -is [System.Net.IPAddress] -or $type.EndsWith('SecurityIdentifier', [System.StringComparison]::Ordinal)) {
        if ($Value -isnot [System.Net.IPAddress]) { $type = 'System.Security.Principal.SecurityIdentifier' }
        return '{"t":"parsed","n":"' + $type + '","v":' + (ConvertTo-SandboxText -Text ([string]$Value)) + '}'
    }
    if ($Value -is [System.Collections.IDictionary]) {
        $pairs = [System.Collections.Generic.List[object]]::new()
        foreach ($key in @($Value.Keys)) {
            $pairs.Add($key)
            $pairs.Add($Value[$key])
        }
        return '{"t":"table","n":"System.Collections.Hashtable","v":[' + (ConvertTo-SandboxList -Items $pairs.ToArray()) + ']}'
    }
    if ($Value -is [System.Collections.IEnumerable]) {
        return '{"t":"array","n":"System.Object","v":[' + (ConvertTo-SandboxList -Items @(foreach ($item in $Value) { , $item })) + ']}'
    }
    throw ('The sandbox does not know values of the type ' + $type + '.')
}

# Returns the values of a list of nodes as an array.
function ConvertFrom-SandboxList {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [object[]] $Nodes)
    $values = [System.Collections.Generic.List[object]]::new()
    foreach ($node in $Nodes) {
        if ($null -eq $node) {
            $values.Add($null)
        } elseif ($node -is [string]) {
            $values.Add($node.Substring(1)) # most values are, and a call costs more than the work
        } else {
            $value = ConvertFrom-SandboxNode -Node $node
            $values.Add($value)
        }
    }
    , $values.ToArray()
}

# The error record of a node.
function ConvertFrom-SandboxRecord {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Node)
    $parts = ConvertFrom-SandboxList -Nodes $Node.v
    $category = [System.Management.Automation.ErrorCategory]$parts[2]
    $record = [System.Management.Automation.ErrorRecord]::new($parts[0], [string]$parts[1], $category, $parts[3])
    if ([string]$parts[4] -ne '') { $record.CategoryInfo.Reason = [string]$parts[4] }
    if ([string]$parts[5] -ne '') { $record.ErrorDetails = [System.Management.Automation.ErrorDetails]::new([string]$parts[5]) }
    $record
}

# Returns the value of a node that is a separate object.
function ConvertFrom-SandboxNode {
    [CmdletBinding()]
    param([AllowNull()] [object] $Node)
    if ($null -eq $Node -or $Node -is [bool]) { return $Node }
    if ($Node -is [string]) { return $Node.Substring(1) }
    if ($Node -is [int] -or $Node -is [long]) { return [int]$Node }
    $type = [string]$Node.n
    switch ([string]$Node.t) {
        'instance' {
            return [AdGateway.Sandbox.Kit]::Make($type, ([string]$Node.x).Substring(1), [long]$Node.id, (ConvertFrom-SandboxList -Nodes $Node.v))
        }
        'datetime' { return [datetime]::new([long]$Node.v[0], [System.DateTimeKind][int]$Node.v[1]) }
        'timespan' { return [timespan]::new([long]$Node.v) }
        'guid' { return [guid]$Node.v }
        'version' { return [version]$Node.v }
        'parsed' { return [AdGateway.Sandbox.Kit]::Parsed($type, ([string]$Node.v).Substring(1)) }
        'list' { return , [AdGateway.Sandbox.Kit]::Collection($type, (ConvertFrom-SandboxList -Nodes $Node.v)) }
        'array' { return , [AdGateway.Sandbox.Kit]::Collection($type + '[]', (ConvertFrom-SandboxList -Nodes $Node.v)) }
        'enum' { return [AdGateway.Sandbox.Kit]::Enumeration($type, [long]$Node.v) }
        'long' { return [long]$Node.v }
        'uint' { return [uint32]$Node.v }
        'ushort' { return [uint16]$Node.v }
        'byte' { return [byte]$Node.v }
        'ulong' { return [uint64]$Node.v }
        'short' { return [int16]$Node.v }
        'sbyte' { return [sbyte]$Node.v }
        'double' { return [Convert]::ToDouble([string]$Node.v, $SandboxInvariant) }
        'bytes' { return , [Convert]::FromBase64String([string]$Node.v) }
        'secret' {
            $text = [System.Text.Encoding]::UTF8.GetString([Convert]::FromBase64String([string]$Node.v))
            return [System.Net.NetworkCredential]::new('', $text).SecurePassword
        }
        'units' { return [string]::new([char[]]@(foreach ($unit in $Node.v) { [char][int]$unit })) }
        'exception' {
            $parts = ConvertFrom-SandboxList -Nodes $Node.v
            $pairs = [System.Collections.Generic.List[object]]::new()
            for ($i = 3; $i -lt $parts.Length; $i++) { $pairs.Add($parts[$i]) }
            return [AdGateway.Sandbox.Kit]::Failure($type, [string]$parts[0], [int]$parts[1], $parts[2], $pairs.ToArray())
        }
        'record' { return (ConvertFrom-SandboxRecord -Node $Node) }
        'table' {
            $parts = ConvertFrom-SandboxList -Nodes $Node.v
            $table = @{}
            for ($i = 0; $i -lt $parts.Length; $i += 2) { $table[$parts[$i]] = $parts[$i + 1] }
            return $table
        }
    }
    throw ('The sandbox sent a value of the kind ' + $Node.t + '.')
}

# Runs one command in the sandbox. It sends the bound parameters, answers the sandbox's questions, and emits the
# results in order when the command has ended. It emits nothing earlier, because a connection carries one call at a
# time and the next command of the pipeline may make another call.
function Invoke-SandboxCommand {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Cmdlet,
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [System.Collections.IDictionary] $Bound
    )
    # A function of a module does not see the preferences of the script that calls it.
    if (-not $Bound.ContainsKey('ErrorAction')) { $ErrorActionPreference = $Cmdlet.GetVariableValue('ErrorActionPreference') }
    $arguments = @(foreach ($key in @($Bound.Keys)) {
            if ($SandboxOwnParameters -notcontains $key) { '{"name":"' + $key + '","value":' + (ConvertTo-SandboxJson -Value $Bound[$key]) + '}' }
        }) -join ','
    $call = '{"f":"call","cmdlet":"' + $Name + '","set":"' + $Cmdlet.ParameterSetName + '"' + [AdGateway.Sandbox.Link]::Released()
    [AdGateway.Sandbox.Link]::Send($call + ',"bound":[' + $arguments + ']}')
    $results = [System.Collections.Generic.List[object]]::new()
    $refused = $null # the result of a question that could not be asked
    $frame = $null
    do {
        $frame = ConvertFrom-Json -InputObject ([AdGateway.Sandbox.Link]::Receive())
        $answer = ''
        if ($frame.f -eq 'write') {
            foreach ($node in $frame.values) { $results.Add(@{ kind = 'object'; value = (ConvertFrom-SandboxNode -Node $node) }) }
        } elseif ($frame.f -eq 'warning' -or $frame.f -eq 'verbose') {
            $results.Add(@{ kind = $frame.f; value = ([string]$frame.text).Substring(1) })
        } elseif ($frame.f -eq 'error') {
            $results.Add(@{ kind = 'error'; value = (ConvertFrom-SandboxNode -Node $frame.record) })
            $answer = if ([string]$ErrorActionPreference -eq 'Stop') { 'false' } else { 'true' }
        } elseif ($frame.f -eq 'ask') {
            $answer = 'false'
            try {
                if ($Cmdlet.ShouldProcess(([string]$frame.text).Substring(1))) { $answer = 'true' }
            } catch {
                $refused = $_
            }
        }
        if ($answer -ne '') { [AdGateway.Sandbox.Link]::Send('{"f":"answer","ok":' + $answer + '}') }
    } until ($frame.f -eq 'end' -or $frame.f -eq 'throw' -or $frame.f -eq 'defect')
    foreach ($result in $results) {
        switch ($result.kind) {
            'object' { , $result.value }
            'warning' { $Cmdlet.WriteWarning($result.value) }
            'verbose' { $Cmdlet.WriteVerbose($result.value) }
            'error' { $Cmdlet.WriteError($result.value) }
        }
    }
    if ($null -ne $refused) { throw $refused }
    if ($frame.f -eq 'throw') { $Cmdlet.ThrowTerminatingError((ConvertFrom-SandboxNode -Node $frame.record)) }
    if ($frame.f -eq 'defect') { throw ('The sandbox failed: ' + $frame.text) }
}

# Replaces New-Object for directory entries, because the sandbox cannot be reached over LDAP. Other calls
# are passed on. The module does not export it, because PowerShell would otherwise load the module for a command of
# that name.
function New-SandboxObject {
    [CmdletBinding(DefaultParameterSetName = 'Net')]
    param(
        [Parameter(ParameterSetName = 'Net', Mandatory, Position = 0)] [string] $TypeName,
        [Parameter(ParameterSetName = 'Net', Position = 1)] [Alias('Args')] [object[]] $ArgumentList,
        [Parameter(ParameterSetName = 'Com', Mandatory, Position = 0)] [string] $ComObject,
        [Parameter(ParameterSetName = 'Com')] [switch] $Strict,
        [Parameter()] [System.Collections.IDictionary] $Property
    )
    if ($TypeName -eq 'System.DirectoryServices.DirectoryEntry') {
        return [AdGateway.Sandbox.DirectoryEntry]::new([string]$ArgumentList[0])
    }
    Microsoft.PowerShell.Utility\New-Object @PSBoundParameters
}
Set-Item -LiteralPath 'function:global:New-Object' -Value (Get-Command -Name New-SandboxObject).ScriptBlock
