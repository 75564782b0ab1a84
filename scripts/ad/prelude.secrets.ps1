# Functions shared by the scripts for secrets of computers, which are passwords that LAPS manages, and BitLocker
# keys.

# The kinds of LAPS that may manage a password, with the attribute for its expiry, which is not confidential.
$GatewayLapsExpiries = [ordered]@{ windows = 'msLAPS-PasswordExpirationTime'; legacy = 'ms-Mcs-AdmPwdExpirationTime' }

# Reads a computer with an attribute that not every schema has. Returns $null if the schema lacks it. An attribute
# that the account may not read has no value.
function Find-GatewayAdded {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Guid, [Parameter(Mandatory)] [string] $Name, [Parameter(Mandatory)] [string] $Server)
    $search = @{ Class = 'computer'; Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
    try {
        $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Guid)) + ')'
        return @(Get-GatewayObject -Filter $filter -Property @($Name) @search)[0]
    } catch {
        if ([string]$_.CategoryInfo.Category -ne 'InvalidArgument') { throw }
        return $null # no attribute of the schema (facts D.2)
    }
}

# Keeps a secret from an attribute of an object, and returns the placeholder for it in a record, or '' if it has no
# value. The value is not passed as a parameter, because parameters are logged.
function Add-GatewayStoredSecret {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowNull()] [object] $Object, [Parameter(Mandatory)] [string] $Name)
    if ($null -eq $Object) { return '' }
    $stored = [string]$Object.PSObject.Properties[$Name].Value
    if ($stored -eq '') { return '' }
    $script:GatewayRevealed.Add([System.Net.NetworkCredential]::new('', $stored).SecurePassword)
    '!' + [string]($script:GatewayRevealed.Count - 1)
}

# Returns the kind of LAPS that manages a password of a computer ('windows', 'legacy' or 'none'), and when it
# expires, as a file time.
function Get-GatewayLaps {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Guid, [Parameter(Mandatory)] [string] $Server)
    Set-GatewayStep -Label 'read expiry'
    foreach ($kind in $GatewayLapsExpiries.Keys) {
        $found = Find-GatewayAdded -Guid $Guid -Name $GatewayLapsExpiries[$kind] -Server $Server
        if ($null -eq $found) { continue }
        $ticks = [long]$found.PSObject.Properties[$GatewayLapsExpiries[$kind]].Value
        if ($ticks -gt 0) { return @{ kind = $kind; attribute = $GatewayLapsExpiries[$kind]; ticks = $ticks } }
    }
    @{ kind = 'none'; attribute = ''; ticks = [long]0 }
}

# Writes the record about a password of a computer that LAPS manages.
function ConvertTo-GatewayLocalAdmin {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Computer, [Parameter(Mandatory)] [hashtable] $Laps)
    [ordered]@{
        guid              = [string]$Computer.ObjectGUID
        computerName      = [string]$Computer.Name
        distinguishedName = [string]$Computer.DistinguishedName
        kind              = [string]$Laps.kind
        expires           = [string](Get-GatewayFileTime -Value $Laps.ticks)
    }
}

# Ends a request about the password of a computer that LAPS does not manage.
function Stop-GatewayUnmanaged {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Computer, [Parameter(Mandatory)] [string] $Arg)
    $message = "LAPS keeps no password of the local administrator of '$([string]$Computer.DistinguishedName)', or the " +
        'gateway''s account may not read its expiry: a policy of the computer''s OU switches LAPS on.'
    Stop-Gateway -Code 'not_found' -Arg $Arg -Message $message
}

# Refuses to show a secret of a guarded computer unless the caller is privileged. This check must precede every read
# of the secret.
function Assert-GatewayRevealing {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Computer,
        [Parameter(Mandatory)] [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    if ($Privileged) { return }
    Set-GatewayStep -Label 'check privilege' -Arg $Arg
    $why = Get-GatewayGuardReason -Object $Computer -GuardedGroup $GuardedGroup -Server $Server
    if ($why -eq '') { return }
    $target = [string]$Computer.DistinguishedName
    Stop-Gateway -Code 'forbidden' -Arg $Arg -Message "Showing a secret of '$target' needs the scope 'privileged': $why."
}

# Ends a request for a password that the gateway's account may not read.
function Stop-GatewayUnreadable {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Attribute, [Parameter(Mandatory)] [string] $Arg)
    $message = "The gateway's account may not read the attribute $Attribute of this computer, or it has no value. Reading it needs " +
        'the right to read the property and the control access right to it; the manual page ''secrets'' has the commands.'
    Stop-Gateway -Code 'directory_denied' -Arg $Arg -Message $message
}

# Returns the passwords of a computer that the module LAPS decrypts: the current one first and, with History, the
# earlier ones after it. Each password is a SecureString.
function Get-GatewayDecrypted {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [bool] $History,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    Set-GatewayStep -Label 'decrypt password' -Arg $Arg
    $ask = @{ Identity = $Dn; DomainController = $Server }
    if ($History) { $ask['IncludeHistory'] = $true }
    try {
        $found = @(Get-LapsADPassword @ask)
    } catch {
        $id = [string]$_.FullyQualifiedErrorId
        if (-not $id.StartsWith('CommandNotFoundException', [System.StringComparison]::Ordinal)) { throw } # facts S41
        $message = 'The password is encrypted, and this gateway''s host lacks the PowerShell module LAPS, which decrypts it: ' +
            'it is part of Windows Server 2019 and later with the updates of April 2023.'
        Stop-Gateway -Code 'unprocessable' -Arg $Arg -Message $message
    }
    foreach ($one in $found) {
        if ([string]$one.DecryptionStatus -eq 'Unauthorized' -and [string]$one.Source -eq 'EncryptedPassword') {
            $message = "The password is encrypted for '$([string]$one.AuthorizedDecryptor)', to which the gateway's account does not belong."
            Stop-Gateway -Code 'directory_denied' -Arg $Arg -Message $message
        }
    }
    $found
}

# Returns the record of one BitLocker key, without the key. Its id is part of its name.
function ConvertTo-GatewayRecoveryKey {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Key, [Parameter(Mandatory)] [object] $Computer)
    $created = $Key.whenCreated # absent if the account may not read it
    if ($null -ne $created) { $created = ([datetime]$created).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
    [ordered]@{
        keyId                     = [string](([string]$Key.Name -replace '^[^{]*\{', '') -replace '\}.*$', '').ToLowerInvariant()
        created                   = [string]$created
        computerName              = [string]$Computer.Name
        computerGuid              = [string]$Computer.ObjectGUID
        computerDistinguishedName = [string]$Computer.DistinguishedName
    }
}

# Returns the form in which LDAP filters need the id of a BitLocker key, or its first eight digits and a star. The
# stored id begins with the same four bytes in the opposite order, so that the index finds it (facts S40).
function Get-GatewayKeyIdEscaped {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $KeyId)
    if ($KeyId.Length -gt 8) { return (Get-GatewayGuidEscaped -Guid ([guid]$KeyId)) }
    (Get-GatewayGuidEscaped -Guid ([guid]($KeyId + '-0000-0000-0000-000000000000'))).Substring(0, 12) + '*'
}
