# Functions for the TXT records that answer challenges of certificate authorities.

# Returns the place of a challenge. It consists of the zone that contains its name, its owner name there, the
# records of the name, and those records that are answers to challenges, which are TXT records of 43 characters.
# Ends the request if the caller may not change them.
function Resolve-GatewayChallenge {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $zones = @(Get-GatewayServerZone -ComputerName $ComputerName)
    $zone = Select-GatewayZone -ZoneName $Name -Zone $zones
    if ($null -eq $zone) { $zone = Select-GatewayParentZone -Name $Name -Zone $zones }
    if ($null -eq $zone -or [bool]$zone.IsReverseLookupZone) {
        Stop-Gateway -Code 'not_found' -Arg 'Name' -Message "No forward zone of this DNS server holds the name '$Name'."
    }
    Assert-GatewayAllowedZone -ZoneName ([string]$zone.ZoneName) -AllowedZone $AllowedZone
    $guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
    Assert-GatewayName -Name $Name -Arg 'Name' @guards
    Assert-GatewayPrimaryZone -Zone $zone
    $written = [string]$zone.ZoneName
    $owner = Get-GatewayRelativeName -Name ($Name + '.') -ZoneName $written
    $place = @{ zone = $written; owner = $owner; fqdn = $Name; alias = ''; values = @() }
    Set-GatewayStep -Label 'read name' -Arg 'Name'
    foreach ($record in @(Get-GatewayNode -ZoneName $written -Owner $owner -ComputerName $ComputerName)) {
        $type = ([string]$record.RecordType).ToUpperInvariant()
        if ($type -eq 'CNAME') { $place.alias = ([string]$record.RecordData.HostNameAlias).TrimEnd([char]'.') }
        $text = [string]$record.RecordData.DescriptiveText
        if ($type -eq 'TXT' -and $text -cmatch '^[A-Za-z0-9_-]{43}$') { $place.values += @{ text = $text; record = $record } }
    }
    $place
}

# Returns the record of an answer at a place, or nothing.
function Find-GatewayChallenge {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Place, [Parameter(Mandatory)] [string] $Text)
    foreach ($value in $Place.values) {
        if ($value.text.Equals($Text, [System.StringComparison]::Ordinal)) { return $value.record }
    }
}

# Returns the newest of the answers at a name, with its turn, or nothing if there is none. Windows does not store
# the age of a TXT record, so the time to live encodes it. The turns 0, 1 and 2 follow each other and are added to
# TimeToLive.
function Find-GatewayNewestChallenge {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Value,
        [Parameter(Mandatory)] [int] $TimeToLive
    )
    $newest = $null
    foreach ($item in $Value) {
        $turn = [int]$item.record.TimeToLive.TotalSeconds - $TimeToLive
        if ($turn -lt 0 -or $turn -gt 2) { $turn = -1 }
        $after = $null -eq $newest -or $newest.turn -lt 0
        if (-not $after -and $turn -ge 0) { $after = (($turn - $newest.turn + 3) % 3) -lt 2 }
        if ($after) { $newest = @{ text = $item.text; turn = $turn } }
    }
    $newest
}
