# Functions shared by the scripts of DNS: zones, limits, names, projections. They are loaded after the common
# prelude, in sessions with the DnsServer module.

# Finds one zone, or ends the request with not_found.
function Find-GatewayZone {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $ComputerName,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [switch] $Quiet
    )
    Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
    Set-GatewayStep -Label 'find zone' -Arg 'ZoneName'
    try {
        return @(Get-DnsServerZone -Name $ZoneName -ComputerName $ComputerName)[0]
    } catch {
        if ((Get-GatewayErrorCode -Record $_) -ne '9601') { throw }
    }
    if ($Quiet) { return $null }
    Stop-Gateway -Code 'not_found' -Arg 'ZoneName' -Message "The zone '$ZoneName' was not found."
}

# Returns whether the caller may see a zone.
function Test-GatewayAllowedZone {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone
    )
    if ($null -eq $AllowedZone -or $AllowedZone.Length -eq 0) { return $true }
    foreach ($allowed in $AllowedZone) {
        if ($ZoneName.Equals($allowed.TrimEnd([char]'.'), [System.StringComparison]::OrdinalIgnoreCase)) { return $true }
    }
    return $false
}

# Refuses a zone that is not one of the caller's allowed zones.
function Assert-GatewayAllowedZone {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone
    )
    if (-not (Test-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone)) {
        Stop-Gateway -Code 'limit' -Arg 'ZoneName' -Message "The zone '$ZoneName' is outside the zones that the caller is limited to."
    }
}

# Returns the name for which a name speaks. This is the part after its last label that begins with an underscore,
# such as _acme-challenge, _dmarc or _domainkey, because certificate authorities and mail servers treat records
# there as statements of that name (RFC 8552). If there is no such label, it is the name itself. The name must not
# end with a dot.
function Get-GatewaySpokenName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Name)
    $spoken = $Name
    $end = 0
    foreach ($label in $Name.Split([char]'.')) {
        $end += $label.Length + 1
        if ($end -lt $Name.Length -and $label.StartsWith('_', [System.StringComparison]::Ordinal)) { $spoken = $Name.Substring($end) }
    }
    $spoken
}

# Returns the reason why only privileged callers may change the records of a name, or '' if others may. The name is
# a full name, with or without a trailing dot. KnownController contains the names of the domain controllers.
# GuardedName contains the names with which clients find the gateway, and those that the settings guard, each after
# its key in $GatewayGuards and a colon.
function Get-GatewayNameReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName
    )
    $bare = $Name.TrimEnd([char]'.').ToLowerInvariant()
    $why = Get-GatewayPlainNameReason -Name $bare -KnownController $KnownController -GuardedName $GuardedName
    if ($why -ne '') { return $why }
    if ($bare.Contains('\')) { # and in the form that a server without escapes reads
        $bare = $bare.Replace('\', '')
        $why = Get-GatewayPlainNameReason -Name $bare -KnownController $KnownController -GuardedName $GuardedName
        if ($why -ne '') { return $why }
    }
    $spoken = Get-GatewaySpokenName -Name $bare
    if ($spoken.Equals($bare)) { return '' }
    $why = Get-GatewayPlainNameReason -Name $spoken -KnownController $KnownController -GuardedName $GuardedName
    if ($why -ne '') { return "$($GatewayGuards.speaks.why), '$spoken', and $why" }
    ''
}

# Returns the reason why a name, in lower case without a trailing dot, is guarded regardless of the name for which
# it speaks.
function Get-GatewayPlainNameReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName
    )
    $labels = $Name.Split([char]'.')
    foreach ($label in $labels) {
        if ($label -eq '_msdcs') { return $GatewayGuards.msdcs.why }
        if (@('_ldap', '_kerberos', '_kpasswd', '_gc', 'domaindnszones', 'forestdnszones') -contains $label) { return $GatewayGuards.locator.why }
        if ($label -eq '*') { return $GatewayGuards.wildcard.why }
    }
    if ($labels[0] -eq 'wpad') { return $GatewayGuards.wpad.why }
    if ($labels[0] -eq 'isatap') { return $GatewayGuards.isatap.why }
    foreach ($controller in @($KnownController)) {
        if (-not $controller) { continue }
        $known = $controller.TrimEnd([char]'.').ToLowerInvariant()
        if ($Name.Equals($known)) { return $GatewayGuards.host.why }
        $dot = $known.IndexOf([char]'.')
        if ($dot -lt 0) { continue }
        $domain = $known.Substring($dot + 1)
        # A guarded name is also guarded when it is followed by the name of its domain, which some servers
        # remove (facts E52).
        $once = $Name
        while (('.' + $once).EndsWith('.' + $domain + '.' + $domain, [System.StringComparison]::Ordinal)) {
            $once = $once.Substring(0, $once.Length - $domain.Length - 1)
        }
        if ($once.Equals($known)) { return $GatewayGuards.host.why }
        if ($once.Equals($domain)) { return $GatewayGuards.apex.why }
        foreach ($node in @('_sites', '_tcp', '_udp')) {
            if (('.' + $once).EndsWith('.' + $node + '.' + $domain, [System.StringComparison]::Ordinal)) { return $GatewayGuards.locator.why }
        }
    }
    Get-GatewayListedReason -Name $Name -GuardedName $GuardedName
}

# Returns the reason why GuardedName guards a name, in lower case without a trailing dot, or '' if it does not. A
# guarded name is also guarded when it is followed by its own end again, which some servers remove (facts E52).
function Get-GatewayListedReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName
    )
    foreach ($entry in @($GuardedName)) {
        if (-not $entry) { continue }
        $kind = $entry -replace ':.*$', ''
        $known = $entry.Substring($kind.Length + 1).TrimEnd([char]'.').ToLowerInvariant()
        $once = $Name
        if ($once.StartsWith($known + '.', [System.StringComparison]::Ordinal)) {
            $zone = $known
            while ($zone.Contains('.')) {
                $zone = $zone.Substring($zone.IndexOf([char]'.') + 1)
                while ($once.EndsWith('.' + $zone + '.' + $zone, [System.StringComparison]::Ordinal)) {
                    $once = $once.Substring(0, $once.Length - $zone.Length - 1)
                }
            }
        }
        if ($once.Equals($known)) { return $GatewayGuards[$kind].why }
    }
    ''
}

# Returns the reason why only privileged callers may change PTR records that lead to a name, or '' if others may.
function Get-GatewayTargetReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Target,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName
    )
    $bare = $Target.TrimEnd([char]'.')
    foreach ($controller in @($KnownController)) {
        if (-not $controller) { continue }
        if ([string]::Equals($bare, $controller.TrimEnd([char]'.'), [System.StringComparison]::OrdinalIgnoreCase)) { return $GatewayGuards.host.why }
    }
    Get-GatewayListedReason -Name $bare.ToLowerInvariant() -GuardedName $GuardedName
}

# Refuses to change the records of a guarded name unless the caller is privileged.
function Assert-GatewayName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
        [Parameter(Mandatory)] [bool] $Privileged,
        [Parameter(Mandatory)] [string] $Arg
    )
    if ($Privileged) { return }
    $why = Get-GatewayNameReason -Name $Name -KnownController $KnownController -GuardedName $GuardedName
    if ($why -ne '') { Stop-GatewayGuarded -Target $Name -Why $why -Arg $Arg }
}

# Returns the owner name relative to its zone. It is '@' for the apex, and '' if the name is outside the zone. A
# name that ends with a dot is a full name. So is a name that ends with the name of the zone, which is removed once.
function Get-GatewayRelativeName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Name, [Parameter(Mandatory)] [string] $ZoneName)
    $bare = $Name.TrimEnd([char]'.')
    if ($Name -eq '@' -or [string]::Equals($bare, $ZoneName, [System.StringComparison]::OrdinalIgnoreCase)) { return '@' }
    $suffix = '.' + $ZoneName
    if ($bare.EndsWith($suffix, [System.StringComparison]::OrdinalIgnoreCase)) {
        return $bare.Substring(0, $bare.Length - $suffix.Length)
    }
    if ($bare.Length -lt $Name.Length) { return '' }
    return $bare
}

# Returns whether a relative name could be read as a full name, because it ends with the name of its zone. Servers
# read such names in different ways (facts E52, NB4).
function Test-GatewayNested {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Owner, [Parameter(Mandatory)] [string] $ZoneName)
    ('.' + $Owner).EndsWith('.' + $ZoneName, [System.StringComparison]::OrdinalIgnoreCase)
}

# Returns a relative name in the form in which it is sent to a server and shown in records. A name that could be
# read in two ways is given as a full name with a trailing dot (facts NA8).
function Get-GatewayClearName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Owner, [Parameter(Mandatory)] [string] $ZoneName)
    if (Test-GatewayNested -Owner $Owner -ZoneName $ZoneName) { return $Owner + '.' + $ZoneName + '.' }
    $Owner
}

# Returns a target in the form in which records show it. The trailing dot is removed if the target has another dot.
# A target without any dot is relative to the zone.
function Get-GatewayTargetName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Target, [Parameter(Mandatory)] [string] $ZoneName)
    if (-not $Target.Contains('.')) { return $Target + '.' + $ZoneName }
    $bare = $Target.TrimEnd([char]'.')
    if (-not $bare.Contains('.')) { return $bare + '.' }
    return $bare
}

# The gateway runs this function some forty times before a session is ready. It calls the projections with made-up
# objects, so that PowerShell has compiled them before the first request. It reads and changes nothing.
function Test-GatewayRehearsal {
    [CmdletBinding()]
    param()
    $record = @{ HostName = 'madeup'; RecordType = 'CNAME'; RecordData = @{ HostNameAlias = 'nowhere.corp.example.' }; Timestamp = '2024-01-02' }
    $zone = @{
        DistinguishedName = ''; ZoneName = '10.in-addr.arpa'; ZoneType = 'Primary'; IsDsIntegrated = $true
        IsReverseLookupZone = $true; IsReadOnly = $false
    }
    ConvertTo-GatewayRecord -Record @($record, $record) -ZoneName 'corp.example' -Type 'CNAME'
    ConvertTo-GatewayZone -Zone @($zone, $zone) -Form 'Zone'
}
