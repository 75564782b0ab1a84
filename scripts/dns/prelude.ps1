# What the scripts of DNS share: zones, limits, names, projections.
# Loaded after the common prelude, in sessions with the DnsServer module.

# Finds one zone; ends the request with not_found when there is none.
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

# Tells whether the caller may see a zone.
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

# Refuses a zone outside the caller's allowed ones.
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

# The owner name relative to its zone, '@' for the apex; '' when the name lies outside the zone.
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

# A target as it is stored, without its trailing dot: one without any dot lies in the zone.
function Get-GatewayTargetName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Target, [Parameter(Mandatory)] [string] $ZoneName)
    if (-not $Target.Contains('.')) { return $Target + '.' + $ZoneName }
    return $Target.TrimEnd([char]'.')
}

# The zone of a request about one CNAME, and both names as the zone writes them.
function Resolve-GatewayCName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [string] $Target,
        [Parameter(Mandatory)] [string] $ComputerName,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone
    )
    $zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
    $written = [string]$zone.ZoneName
    @{
        zone   = $zone
        given  = $Name
        name   = $written
        owner  = Get-GatewayRelativeName -Name $Name -ZoneName $written
        target = Get-GatewayTargetName -Target $Target -ZoneName $written
    }
}

# The one CNAME with this name and target; case and trailing dots do not count. Without any the
# request ends with not_found, with Quiet there is none. An absent name is an error of the server (facts E55).
function Find-GatewayCName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Names,
        [Parameter(Mandatory)] [string] $ComputerName,
        [switch] $Quiet
    )
    Set-GatewayStep -Label 'find record' -Arg 'Name'
    $records = @()
    if ($Names.owner -ne '') {
        try {
            $records = @(Get-DnsServerResourceRecord -ZoneName $Names.name -Name $Names.owner -Node -RRType 'CName' -ComputerName $ComputerName)
        } catch {
            if (@('9714', '9701') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
        }
    }
    foreach ($record in $records) {
        $target = ([string]$record.RecordData.HostNameAlias).TrimEnd([char]'.')
        if ($target.Equals($Names.target, [System.StringComparison]::OrdinalIgnoreCase)) { return $record }
    }
    if ($Quiet) { return $null }
    Stop-Gateway -Code 'not_found' -Arg 'Name' -Message "There is no CNAME '$($Names.given)' with the target '$($Names.target)' in the zone '$($Names.name)'."
}

# The CNAMEs of a zone with an owner name: one relative to the zone, or a full name inside it. A
# name that the zone does not have is an error of the server (facts E55), and no record.
function Get-GatewayNamedCName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $owner = Get-GatewayRelativeName -Name $Name -ZoneName $ZoneName
    if ($owner -eq '' -or $owner.Length + 1 + $ZoneName.Length -gt 253) { return }
    try {
        Get-DnsServerResourceRecord -ZoneName $ZoneName -Name $owner -Node -RRType 'CName' -ComputerName $ComputerName
    } catch {
        if (@('9714', '9701') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
    }
}

# Writes the records of CNAMEs of one zone.
function ConvertTo-GatewayCName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Record,
        [Parameter(Mandatory)] [string] $ZoneName
    )
    foreach ($item in $Record) {
        $stamp = ''
        if ($null -ne $item.Timestamp) {
            $stamp = ([datetime]$item.Timestamp).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant)
        }
        [ordered]@{
            name      = [string]$item.HostName
            type      = 'CNAME'
            data      = [string]([string]$item.RecordData.HostNameAlias).TrimEnd([char]'.')
            zone      = [string]$ZoneName
            timestamp = [string]$stamp
        }
    }
}

# Tells whether a reverse zone is one that Windows makes by itself (facts E66).
function Test-GatewaySystemZone {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Zone)
    $names = @('0.in-addr.arpa', '127.in-addr.arpa', '255.in-addr.arpa', 'TrustAnchors')
    [bool]$Zone.IsAutoCreated -or $names -contains [string]$Zone.ZoneName
}

# Writes the records of reverse lookup zones.
function ConvertTo-GatewayZone {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone)
    foreach ($item in $Zone) {
        [ordered]@{
            distinguishedName = [string]$item.DistinguishedName
            zoneName          = [string]$item.ZoneName
            zoneType          = [string]$item.ZoneType
            type              = [string]$(if ([bool]$item.IsDsIntegrated) { 'DS' } else { 'File' })
        }
    }
}
