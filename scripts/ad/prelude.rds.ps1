# The Remote Desktop settings of a user, which are packed in userParameters (MS-TSTS 2.3; facts F.2). The attribute
# is a sequence of UTF-16 code units: 48 reserved ones, 'P', the number of properties, the properties, and then data
# of other programs. All data of other programs is kept exactly. Names and values are compared and cut by code unit,
# never by culture.

# The inputs, with the property in which each text is stored, and the bits of CtxCfgFlags1.
$GatewayRdsTexts = [ordered]@{
    RdsProfilePath     = 'CtxWFProfilePath'
    RdsHomeFolderPath  = 'CtxWFHomeDir'
    RdsHomeFolderDrive = 'CtxWFHomeDirDrive'
}
$GatewayRdsInputs = @('RdsProfilePath', 'RdsHomeFolderPath', 'RdsHomeFolderDrive', 'RdsConnectDrive', 'RdsAllowLogon')
$GatewayRdsConnect = [long]0x8000
$GatewayRdsDeny = [long]0x10000
# The initial flags of a new value, with which no drives are connected and logon is allowed (facts F18).
$GatewayRdsFlags = [long]2418044928

# Ends the request because the stored value cannot be changed without loss.
function Stop-GatewayRds {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Arg, [Parameter(Mandatory)] [string] $Reason)
    Stop-Gateway -Code 'unprocessable' -Arg $Arg -Message "The Remote Desktop settings cannot be changed: $Reason."
}

# Returns the first of the inputs that is given, or '' if none is.
function Get-GatewayRdsGiven {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [System.Collections.IDictionary] $Given)
    foreach ($name in $GatewayRdsInputs) {
        if ($Given.ContainsKey($name)) { return $name }
    }
    return ''
}

# Parses the attribute. If it contains no Remote Desktop data, there are no items.
function Split-GatewayUserParameters {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Text,
        [Parameter(Mandatory)] [string] $Arg
    )
    $items = [System.Collections.Generic.List[object]]::new()
    if ($Text.Length -lt 50 -or [int]$Text[48] -ne 80) {
        $reserved = $Text
        if ($Text.Length -eq 0) { $reserved = 'CtxCfgPresent' }
        if ($reserved.Length -gt 48) { Stop-GatewayRds -Arg $Arg -Reason 'the attribute holds data of another program' }
        return @{ reserved = $reserved.PadRight(48); items = $items; trailing = '' }
    }
    $at = 50
    for ($i = 0; $i -lt [int]$Text[49]; $i++) {
        if ($at + 3 -gt $Text.Length) { Stop-GatewayRds -Arg $Arg -Reason 'what is stored is cut off' }
        $nameBytes = [int]$Text[$at]
        $valueBytes = [int]$Text[$at + 1]
        if (($nameBytes -band 1) -ne 0 -or ($valueBytes -band 1) -ne 0) { Stop-GatewayRds -Arg $Arg -Reason 'what is stored has an odd length' }
        $nameUnits = [int]($nameBytes / 2)
        $valueUnits = [int]($valueBytes / 2)
        $end = $at + 3 + $nameUnits + $valueUnits
        if ($end -gt $Text.Length) { Stop-GatewayRds -Arg $Arg -Reason 'what is stored is cut off' }
        $items.Add(@{
                name  = $Text.Substring($at + 3, $nameUnits)
                type  = $Text.Substring($at + 2, 1)
                value = $Text.Substring($at + 3 + $nameUnits, $valueUnits)
            })
        $at = $end
    }
    @{ reserved = $Text.Substring(0, 48); items = $items; trailing = $Text.Substring($at) }
}

# Returns the first property with a name, ignoring case, or $null if there is none.
function Find-GatewayRdsItem {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Data, [Parameter(Mandatory)] [string] $Name)
    foreach ($item in $Data.items) {
        if ([string]::Equals($item.name, $Name, [System.StringComparison]::OrdinalIgnoreCase)) { return $item }
    }
    return $null
}

# Replaces a property in place, or adds it at the end. A value is stored as two hexadecimal digits per byte, both in
# one code unit.
function Set-GatewayRdsItem {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Data,
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [byte[]] $Bytes
    )
    $digits = [System.BitConverter]::ToString($Bytes).Replace('-', '').ToLowerInvariant()
    $value = [System.Text.Encoding]::Unicode.GetString([System.Text.Encoding]::ASCII.GetBytes($digits))
    $item = Find-GatewayRdsItem -Data $Data -Name $Name
    if ($null -eq $item) {
        $Data.items.Add(@{ name = $Name; type = [string][char]1; value = $value })
    } else {
        $item.value = $value
    }
}

# Returns the stored flags, or the initial ones if there are none.
function Get-GatewayRdsFlags {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Data, [Parameter(Mandatory)] [string] $Arg)
    $item = Find-GatewayRdsItem -Data $Data -Name 'CtxCfgFlags1'
    if ($null -eq $item) { return $GatewayRdsFlags }
    if ($item.value.Length -ne 4) { Stop-GatewayRds -Arg $Arg -Reason 'the stored flags are not four bytes' }
    $digits = ''
    foreach ($unit in $item.value.ToCharArray()) {
        $digits = $digits + [string][char]([int]$unit -band 255) + [string][char]([int]$unit -shr 8)
    }
    if ($digits -cnotmatch '^[0-9A-Fa-f]{8}\z') { Stop-GatewayRds -Arg $Arg -Reason 'the stored flags are not four bytes' }
    $flags = [long]0
    for ($i = 6; $i -ge 0; $i -= 2) { $flags = $flags * 256 + [Convert]::ToInt32($digits.Substring($i, 2), 16) }
    $flags
}

# Applies the given inputs to the text of the attribute and returns the new text.
function ConvertTo-GatewayUserParameters {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Text,
        [Parameter(Mandatory)] [System.Collections.IDictionary] $Given
    )
    $arg = Get-GatewayRdsGiven -Given $Given
    if ($arg.Length -eq 0) { return $Text }
    $data = Split-GatewayUserParameters -Text $Text -Arg $arg
    $count = $data.items.Count
    # Without this property, Windows ignores the others (facts F9).
    Set-GatewayRdsItem -Data $data -Name 'CtxCfgPresent' -Bytes ([byte[]](0x55, 0x1e, 0x0b, 0xb0))
    $changed = $count -gt 0
    if ($Given.ContainsKey('RdsConnectDrive') -or $Given.ContainsKey('RdsAllowLogon')) {
        $flags = Get-GatewayRdsFlags -Data $data -Arg $arg
        if ($Given.ContainsKey('RdsConnectDrive')) {
            $flags = $flags -band (-bnot $GatewayRdsConnect)
            if ([bool]$Given['RdsConnectDrive']) { $flags = $flags -bor $GatewayRdsConnect }
        }
        if ($Given.ContainsKey('RdsAllowLogon')) {
            $flags = $flags -band (-bnot $GatewayRdsDeny)
            if (-not [bool]$Given['RdsAllowLogon']) { $flags = $flags -bor $GatewayRdsDeny }
        }
        Set-GatewayRdsItem -Data $data -Name 'CtxCfgFlags1' -Bytes ([System.BitConverter]::GetBytes([uint32]$flags))
        $changed = $true
    }
    foreach ($name in @($GatewayRdsTexts.Keys)) {
        if (-not $Given.ContainsKey($name)) { continue }
        $path = [string]$Given[$name]
        $narrow = [string]$GatewayRdsTexts[$name]
        $stored = $null -ne (Find-GatewayRdsItem -Data $data -Name $narrow) -or $null -ne (Find-GatewayRdsItem -Data $data -Name ($narrow + 'W'))
        if ($path.Length -eq 0 -and -not $stored) { continue }
        # Both forms are written: the narrow one in ASCII, with ? for other characters, and the wide one
        # exactly.
        $ended = $path + [string][char]0
        Set-GatewayRdsItem -Data $data -Name $narrow -Bytes ([System.Text.Encoding]::ASCII.GetBytes($ended))
        Set-GatewayRdsItem -Data $data -Name ($narrow + 'W') -Bytes ([System.Text.Encoding]::Unicode.GetBytes($ended))
        $changed = $true
    }
    if (-not $changed) { return $Text }
    $out = [System.Text.StringBuilder]::new()
    [void]$out.Append([string]$data.reserved).Append('P').Append([string][char]$data.items.Count)
    foreach ($item in $data.items) {
        [void]$out.Append([string][char]($item.name.Length * 2)).Append([string][char]($item.value.Length * 2))
        [void]$out.Append([string]$item.type).Append([string]$item.name).Append([string]$item.value)
    }
    [void]$out.Append([string]$data.trailing)
    if ($out.Length -gt 32767) { Stop-GatewayRds -Arg $arg -Reason 'the attribute would become too long' }
    $out.ToString()
}

# Opens a user over LDAP, which transfers the attribute unchanged. The web service of the module uses XML, and the
# value contains characters that XML forbids (facts F20).
function Open-GatewayEntry {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Guid, [Parameter(Mandatory)] [string] $Server)
    $entry = New-Object -TypeName System.DirectoryServices.DirectoryEntry -ArgumentList ('LDAP://' + $Server + '/<GUID=' + $Guid + '>')
    $entry.RefreshCache([string[]]@('userParameters'))
    $entry
}

# Returns the text of a user's userParameters, or '' if it is absent.
function Get-GatewayUserParameters {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Guid, [Parameter(Mandatory)] [string] $Server)
    $entry = Open-GatewayEntry -Guid $Guid -Server $Server
    try {
        [string]$entry.Properties['userParameters'].Value
    } finally {
        $entry.Dispose()
    }
}

# Writes a user's userParameters, unless it was changed since Old was read.
function Set-GatewayUserParameters {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Old,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $New,
        [Parameter(Mandatory)] [string] $Server,
        [string] $Arg
    )
    $entry = Open-GatewayEntry -Guid $Guid -Server $Server
    try {
        if (-not [string]::Equals([string]$entry.Properties['userParameters'].Value, $Old, [System.StringComparison]::Ordinal)) {
            Stop-Gateway -Code 'conflict' -Arg $Arg -Message 'The Remote Desktop settings were changed by somebody else at the same time. Try again.'
        }
        if ($New.Length -eq 0) {
            $entry.Properties['userParameters'].Clear()
        } else {
            $entry.Properties['userParameters'].Value = $New
        }
        $entry.CommitChanges()
    } finally {
        $entry.Dispose()
    }
}
