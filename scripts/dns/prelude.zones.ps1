# Functions shared by the scripts of zones: rights, hidden names, projections. They are loaded after the prelude of
# DNS.

$GatewaySystemZones = @('0.in-addr.arpa', '127.in-addr.arpa', '255.in-addr.arpa', 'TrustAnchors')
$GatewayTicksPerHour = 36000000000

# Returns whether Windows itself creates a zone of this name (facts E66).
function Test-GatewaySystemName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $ZoneName)
    Test-GatewayAmong -Text $ZoneName -List $GatewaySystemZones
}

# Returns whether a zone is one that Windows creates by itself (facts E66).
function Test-GatewaySystemZone {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Zone)
    [bool]$Zone.IsAutoCreated -or (Test-GatewaySystemName -ZoneName ([string]$Zone.ZoneName))
}

# Returns all zones of the server.
function Get-GatewayServerZone {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $ComputerName)
    Set-GatewayStep -Label 'list zones' -Arg 'ZoneName'
    Get-DnsServerZone -ComputerName $ComputerName
}

# Returns the zone of a list that has a name, or nothing.
function Select-GatewayZone {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone
    )
    foreach ($item in $Zone) {
        if ($ZoneName.Equals([string]$item.ZoneName, [System.StringComparison]::OrdinalIgnoreCase)) { return $item }
    }
}

# Returns the deepest zone of a list that contains a name, or nothing.
function Select-GatewayParentZone {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone
    )
    $parent = $null
    $length = 0
    foreach ($item in $Zone) {
        $suffix = '.' + [string]$item.ZoneName
        if ($suffix.Length -gt $length -and $Name.EndsWith($suffix, [System.StringComparison]::OrdinalIgnoreCase)) {
            $parent = $item
            $length = $suffix.Length
        }
    }
    $parent
}

# Returns a number of things in the form for sentences.
function Get-GatewayCount {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [int] $Count, [Parameter(Mandatory)] [string] $Noun)
    if ($Count -eq 1) { return "1 $Noun" }
    "$Count $($Noun)s"
}

# Returns the phrase for the type of a zone, for use in a sentence.
function Get-GatewayZoneKind {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Zone)
    $kinds = @{ Forwarder = 'a conditional forwarder'; Stub = 'a stub zone'; Secondary = 'a secondary zone' }
    $type = [string]$Zone.ZoneType
    if ($kinds.ContainsKey($type)) { return $kinds[$type] }
    'a primary zone'
}

# Refuses to create or remove zones that the domain needs: the zones of the server itself, of the locator, of the
# domain and of the forest (facts NC11). Zone is the list of the server's zones. The partitions of zones in the directory
# name the domain and the forest.
function Assert-GatewayZoneName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController
    )
    $domains = [System.Collections.Generic.List[string]]::new()
    foreach ($controller in @($KnownController)) {
        if ($controller -and $controller.Contains('.')) { $domains.Add(($controller.TrimEnd([char]'.') -replace '^[^.]*\.', '')) }
    }
    foreach ($item in $Zone) {
        $partition = [string]$item.DirectoryPartitionName
        foreach ($prefix in @('DomainDnsZones.', 'ForestDnsZones.')) {
            if ($partition.StartsWith($prefix, [System.StringComparison]::OrdinalIgnoreCase)) { $domains.Add($partition.Substring($prefix.Length)) }
        }
    }
    $why = ''
    if (Test-GatewaySystemName -ZoneName $ZoneName) { $why = 'belongs to the DNS server itself' }
    if (($ZoneName + '.').StartsWith('_msdcs.', [System.StringComparison]::OrdinalIgnoreCase)) {
        $why = 'has the names by which domain controllers find each other'
    }
    foreach ($domain in $domains) {
        if ($ZoneName.Equals($domain, [System.StringComparison]::OrdinalIgnoreCase)) { $why = 'is that of the domain' }
    }
    if ($why -ne '') { Stop-Gateway -Code 'protected' -Arg 'ZoneName' -Message "The zone '$ZoneName' $why." }
}

# Refuses a new zone that, like a forwarder, would answer for names of others. This is a top-level domain, or a
# public name that is in no domain of the controllers and in no zone of the server.
function Assert-GatewayOwnZone {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [Parameter(Mandatory)] [bool] $Privileged
    )
    if ($Privileged) { return }
    if ($ZoneName.Contains('.')) {
        # No registry assigns these (RFC 2606, 6762, 8375).
        $top = $ZoneName.ToLowerInvariant() -replace '^.*\.', ''
        $private = @('arpa', 'example', 'internal', 'invalid', 'local', 'localhost', 'test', 'home', 'corp', 'mail', 'lan', 'intranet', 'private')
        if (Test-GatewayListed -Text $top -List $private) { return }
        foreach ($controller in @($KnownController)) {
            if (-not $controller -or -not $controller.Contains('.')) { continue }
            $domain = $controller.TrimEnd([char]'.') -replace '^[^.]*\.', ''
            if (('.' + $ZoneName).EndsWith('.' + $domain, [System.StringComparison]::OrdinalIgnoreCase)) { return }
        }
        foreach ($item in $Zone) {
            $name = [string]$item.ZoneName
            if ([string]$item.ZoneType -ne 'Primary' -or -not $name.Contains('.')) { continue }
            if ($ZoneName.EndsWith('.' + $name, [System.StringComparison]::OrdinalIgnoreCase)) { return }
        }
    }
    Assert-GatewayPrivileged -Target $ZoneName -Guard 'foreign' -Privileged $Privileged -Arg 'ZoneName'
}

# Refuses a name that a zone of the list already has.
function Assert-GatewayZoneFree {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone
    )
    $present = Select-GatewayZone -ZoneName $ZoneName -Zone $Zone
    if ($null -eq $present) { return }
    if ([string]$present.ZoneType -eq 'Forwarder') {
        Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "A conditional forwarder for '$ZoneName' exists already."
    }
    Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$ZoneName' exists already."
}

# Returns the records of a zone at and below a name relative to it. If the zone does not have the name, the server
# raises an error (facts E55), and nothing is returned.
function Get-GatewayBranch {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $clear = Get-GatewayClearName -Owner $Name -ZoneName $ZoneName
    try {
        Get-DnsServerResourceRecord -ZoneName $ZoneName -Name $clear -ComputerName $ComputerName
    } catch {
        if (@('9714', '9701') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
    }
}

# Divides the records at and below a name. Returns the name servers to which it is delegated, and the number of
# other records that are not addresses of these name servers or of NameServer. Host names of records are relative to
# the zone.
function Measure-GatewayBranch {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Record,
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [string] $ZoneName,
        [AllowNull()] [string] $NameServer
    )
    $servers = [System.Collections.Generic.List[string]]::new()
    foreach ($item in $Record) {
        if (([string]$item.RecordType) -eq 'NS' -and (Test-GatewayOwner -Record $item -Owner $Name -ZoneName $ZoneName)) {
            $servers.Add(([string]$item.RecordData.NameServer).TrimEnd([char]'.'))
        }
    }
    $hosts = [System.Collections.Generic.List[string]]::new()
    foreach ($server in @($servers.ToArray()) + @($NameServer)) { if ($server) { $hosts.Add($server) } }
    $others = 0
    foreach ($item in $Record) {
        $owner = (Get-GatewayRecordOwner -Record $item -ZoneName $ZoneName) + '.' + $ZoneName
        $type = [string]$item.RecordType
        if ($type -eq 'NS' -and (Test-GatewayOwner -Record $item -Owner $Name -ZoneName $ZoneName)) { continue }
        if (@('A', 'AAAA') -contains $type -and (Test-GatewayAmong -Text $owner -List $hosts.ToArray())) { continue }
        $others++
    }
    @{ servers = $servers.ToArray(); others = $others }
}

# Refuses a new zone that would hide names of a zone of this server, because the server does not move them (facts
# NC5). A forwarder is allowed where the name is delegated. Zone is the list of the server's zones.
function Assert-GatewayNothingHidden {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [Parameter(Mandatory)] [string] $ComputerName,
        [switch] $Forwarder
    )
    $parent = Select-GatewayParentZone -Name $ZoneName -Zone $Zone
    if ($null -eq $parent -or @('Primary', 'Secondary') -notcontains [string]$parent.ZoneType) { return }
    $above = [string]$parent.ZoneName
    $child = $ZoneName.Substring(0, $ZoneName.Length - $above.Length - 1)
    Set-GatewayStep -Label 'check parent zone' -Arg 'ZoneName'
    $records = @(Get-GatewayBranch -ZoneName $above -Name $child -ComputerName $ComputerName)
    $found = Measure-GatewayBranch -Record $records -Name $child -ZoneName $above
    $allowed = Test-GatewayAllowedZone -ZoneName $above -AllowedZone $AllowedZone
    $where = [string]$(if ($allowed) { "the zone '$above'" } else { 'the zone above it' })
    if ($found.servers.Length -gt 0 -and -not $Forwarder) {
        $message = "The name '$ZoneName' is delegated in $where. Remove the delegation first."
        Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message $message
    }
    $hidden = $records.Length
    if ($Forwarder) { $hidden = $found.others }
    if ($hidden -gt 0) {
        $some = 'records' # the number is shown to callers who may see that zone
        if ($allowed) { $some = Get-GatewayCount -Count $hidden -Noun 'record' }
        $message = "'$ZoneName' would hide $some that $where has at and below this name. Move them first."
        Stop-Gateway -Code 'not_empty' -Arg 'ZoneName' -Message $message
    }
}

# Refuses a change that only privileged callers may make.
function Assert-GatewayPrivileged {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Target,
        [Parameter(Mandatory)] [string] $Guard,
        [Parameter(Mandatory)] [bool] $Privileged,
        [Parameter(Mandatory)] [string] $Arg
    )
    if (-not $Privileged) { Stop-GatewayGuarded -Target $Target -Why $GatewayGuards[$Guard].why -Arg $Arg }
}

# Returns the records of a zone that is to be removed. Without Force it may have only the SOA and the name servers
# of the zone itself. Records of guarded names and of domain controllers may be removed only by privileged callers.
function Read-GatewayZone {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [bool] $Force,
        [Parameter(Mandatory)] [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    Set-GatewayStep -Label 'count records' -Arg 'ZoneName'
    $records = @()
    try {
        $records = @(Get-DnsServerResourceRecord -ZoneName $ZoneName -ComputerName $ComputerName)
    } catch {
        if (-not $Force) { throw }
        $code = Get-GatewayErrorCode -Record $_
        if (-not $Privileged) { # records that cannot be read may be guarded
            $why = "its records could not be read (error $code), so that it may have some of domain controllers"
            Stop-GatewayGuarded -Target $ZoneName -Arg 'ZoneName' -Why $why
        }
        Add-GatewayWarning -Code 'not_counted' -Target $ZoneName -Message "The records of the zone could not be counted (error $code)."
    }
    if (-not $Privileged) { Assert-GatewayZoneRecord -ZoneName $ZoneName -Record $records -KnownController $KnownController -GuardedName $GuardedName }
    if (-not $Force) {
        $more = 0
        foreach ($record in $records) {
            if ([string]$record.HostName -ne '@' -or @('SOA', 'NS') -notcontains [string]$record.RecordType) { $more++ }
        }
        if ($more -gt 0) {
            $some = Get-GatewayCount -Count $more -Noun 'record'
            $message = "The zone '$ZoneName' has $some besides its SOA and name servers. Force=true removes it all the same."
            Stop-Gateway -Code 'not_empty' -Arg 'Force' -Message $message
        }
    }
    $records
}

# Returns the image of a zone that is about to be removed, which contains its settings, and its records unless there
# are too many.
function Get-GatewayZoneImage {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Zone,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Record,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $settings = ConvertTo-GatewayZone -Zone @($Zone) -Form 'Zone'
    $attributes = [ordered]@{}
    foreach ($name in @('zoneName', 'zoneType', 'replicationScope', 'dynamicUpdate')) { $attributes[$name] = [string]$settings[$name] }
    $attributes['directoryPartition'] = [string](Get-GatewayCustomPartition -Zone $Zone)
    $attributes['masterServers'] = [string]($settings['masterServers'] -join ',')
    if ([string]$settings['zoneType'] -eq 'Forwarder') {
        $attributes['forwarderTimeout'] = [string][int]$Zone.ForwarderTimeout
        $attributes['useRecursion'] = [string][bool]$Zone.UseRecursion
    }
    if ([string]$settings['zoneType'] -eq 'Primary') {
        $aging = Get-GatewayImageAging -ZoneName ([string]$Zone.ZoneName) -ComputerName $ComputerName
        if ($null -ne $aging) {
            foreach ($name in @('enabled', 'refreshHours', 'noRefreshHours')) { $attributes[$name] = [string]$aging[$name] }
        }
    }
    $some = @()
    if ($Record.Length -le $GatewayImageSize) { $some = @(ConvertTo-GatewayRecord -Record $Record -ZoneName ([string]$Zone.ZoneName)) }
    [ordered]@{ attributes = $attributes; records = $some; incomplete = [bool]($Record.Length -gt $GatewayImageSize) }
}

# Returns the aging of a zone for its image, or nothing if it cannot be read.
function Get-GatewayImageAging {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $ZoneName, [Parameter(Mandatory)] [string] $ComputerName)
    $step = $script:GatewayStep
    Set-GatewayStep -Label 'read aging' -Arg 'ZoneName'
    $aging = $null
    try {
        $aging = ConvertTo-GatewayZoneAging -Aging @(Get-DnsServerZoneAging -Name $ZoneName -ComputerName $ComputerName)[0]
    } catch {
        $aging = $null
    }
    Set-GatewayStep -Label $step -Arg 'ZoneName'
    $aging
}

# The maximum number of records in the image of a zone.
$GatewayImageSize = 5000

# Refuses records of guarded names, and PTR records that lead to some of these names.
function Assert-GatewayZoneRecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Record,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName
    )
    $last = ''
    foreach ($item in $Record) {
        $owner = [string]$item.HostName
        if ([string]$item.RecordType -eq 'PTR') {
            $target = ([string]$item.RecordData.PtrDomainName).TrimEnd([char]'.')
            foreach ($controller in @($KnownController)) {
                if ($controller -and $target.Equals($controller.TrimEnd([char]'.'), [System.StringComparison]::OrdinalIgnoreCase)) {
                    Stop-GatewayGuarded -Target $ZoneName -Arg 'ZoneName' -Why $GatewayGuards.reverse.why
                }
            }
            $why = Get-GatewayListedReason -Name $target.ToLowerInvariant() -GuardedName $GuardedName
            if ($why -ne '') { Stop-GatewayGuarded -Target $ZoneName -Arg 'ZoneName' -Why "it has a record for '$target', and $why" }
        }
        if ($owner.Equals($last, [System.StringComparison]::Ordinal)) { continue }
        $last = $owner
        $why = Get-GatewayNameReason -Name ($owner + '.' + $ZoneName) -KnownController $KnownController -GuardedName $GuardedName
        if ($why -ne '') { Stop-GatewayGuarded -Target $ZoneName -Arg 'ZoneName' -Why "it has the name '$owner', and $why" }
    }
}

# Refuses a zone that is not a primary one of this server, or that the server created itself.
function Assert-GatewayPrimaryZone {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Zone)
    $name = [string]$Zone.ZoneName
    if (Test-GatewaySystemZone -Zone $Zone) {
        Stop-Gateway -Code 'protected' -Arg 'ZoneName' -Message "The zone '$name' belongs to the DNS server itself."
    }
    if ([string]$Zone.ZoneType -ne 'Primary') {
        $kind = Get-GatewayZoneKind -Zone $Zone
        Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$name' is not a primary zone of this server but $kind."
    }
}

# Returns whether a list contains a text, ignoring case.
function Test-GatewayAmong {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Text,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $List
    )
    foreach ($item in $List) {
        if ($Text.Equals($item, [System.StringComparison]::OrdinalIgnoreCase)) { return $true }
    }
    $false
}

# Returns the addresses of a list as text.
function Get-GatewayAddressText {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [object[]] $Address)
    foreach ($item in @($Address)) { if ($null -ne $item) { [string]$item } }
}

# Returns the place where a zone is stored, which is its replication scope or 'File'.
function Get-GatewayZoneScope {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Zone)
    if ([bool]$Zone.IsDsIntegrated) { return [string]$Zone.ReplicationScope }
    'File'
}

# Returns the distinguished name of a zone, or its name if it is not in the directory.
function Get-GatewayZoneDn {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Zone)
    if ([string]$Zone.DistinguishedName -ne '') { return [string]$Zone.DistinguishedName }
    [string]$Zone.ZoneName
}

# Returns the distinguished name that a new zone will have, derived from the zones of the same replication scope. It
# is the zone's name if the zone will not be in the directory, or if there is no other zone in its place.
function Get-GatewayNewZoneDn {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Scope,
        [AllowNull()] [string] $Partition,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone
    )
    if ($Partition) { return 'DC=' + $ZoneName + ',cn=MicrosoftDNS,DC=' + $Partition.ToLowerInvariant().Replace('.', ',DC=') }
    foreach ($item in $Zone) {
        $dn = [string]$item.DistinguishedName
        if ($dn -ne '' -and $Scope.Equals((Get-GatewayZoneScope -Zone $item), [System.StringComparison]::Ordinal)) {
            return 'DC=' + $ZoneName + ',' + (Get-GatewayParentDn -Dn $dn)
        }
    }
    $ZoneName
}

# Returns the directory partition of a zone whose scope is Custom. It is '' for other zones, whose scope identifies
# the partition.
function Get-GatewayCustomPartition {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Zone)
    if ((Get-GatewayZoneScope -Zone $Zone) -ne 'Custom') { return '' }
    [string]$Zone.DirectoryPartitionName
}

# Refuses a directory partition that does not exist, or that the server does not know.
function Assert-GatewayPartition {
    [CmdletBinding()]
    param([AllowNull()] [string] $Partition, [Parameter(Mandatory)] [string] $ComputerName)
    if (-not $Partition) { return }
    Set-GatewayStep -Label 'find directory partition' -Arg 'DirectoryPartition'
    try {
        $found = @(Get-DnsServerDirectoryPartition -Name $Partition -ComputerName $ComputerName)
        if ($found.Length -gt 0) { return }
    } catch {
        if ((Get-GatewayErrorCode -Record $_) -ne '9901') { throw }
    }
    $message = "The DNS server has no directory partition '$Partition'. An administrator of the forest creates one with " +
        'Add-DnsServerDirectoryPartition, and enlists the server in it.'
    Stop-Gateway -Code 'unprocessable' -Arg 'DirectoryPartition' -Message $message
}

# Returns a time in the form in which records show it, or '' if there is none.
function ConvertTo-GatewayTime {
    [CmdletBinding()]
    param([AllowNull()] [object] $Time)
    if ($null -eq $Time) { return '' }
    ([datetime]$Time).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant)
}

# Returns the whole hours of a time span.
function ConvertTo-GatewayHour {
    [CmdletBinding()]
    param([AllowNull()] [object] $Span)
    if ($null -eq $Span) { return 0 }
    $ticks = [long]$Span.Ticks
    [int](($ticks - $ticks % $GatewayTicksPerHour) / $GatewayTicksPerHour)
}

# Writes the records of zones in a form: 'Zone', 'Reverse' (four of the members), or 'Forwarder'.
function ConvertTo-GatewayZone {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone,
        [Parameter(Mandatory)] [string] $Form
    )
    foreach ($item in $Zone) {
        $masters = [string[]]@(Get-GatewayAddressText -Address $item.MasterServers)
        $scope = [string](Get-GatewayZoneScope -Zone $item)
        if ($Form -eq 'Forwarder') {
            if ($scope -eq 'File') { $scope = 'Server' }
            [ordered]@{
                zoneName         = [string]$item.ZoneName
                masterServers    = [string[]]$masters
                forwarderTimeout = [int]$item.ForwarderTimeout
                useRecursion     = [bool]$item.UseRecursion
                replicationScope = [string]$scope
                directoryPartition = [string]$item.DirectoryPartitionName
            }
            continue
        }
        $type = [string]$item.ZoneType
        $record = [ordered]@{
            distinguishedName = [string]$item.DistinguishedName
            zoneName          = [string]$item.ZoneName
            zoneType          = [string]$type
            type              = [string]$(if ([bool]$item.IsDsIntegrated) { 'DS' } else { 'File' })
        }
        if ($Form -ne 'Reverse') {
            $record['lookup'] = [string]$(if ([bool]$item.IsReverseLookupZone) { 'Reverse' } else { 'Forward' })
            $record['replicationScope'] = [string]$scope
            $record['directoryPartition'] = [string]$item.DirectoryPartitionName
            $record['dynamicUpdate'] = [string]$item.DynamicUpdate
            $record['readOnly'] = [bool]([bool]$item.IsReadOnly -or @('Secondary', 'Stub') -contains $type)
            $record['paused'] = [bool]$item.IsPaused
            $record['signed'] = [bool]$item.IsSigned
            $record['autoCreated'] = [bool]$item.IsAutoCreated
            $record['zoneFile'] = [string]$item.ZoneFile
            $record['masterServers'] = [string[]]$masters
        }
        $record
    }
}

# Returns the serial number of a zone, which rises with each change of its records, or '' for a zone that has none
# here.
function Get-GatewayZoneSerial {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Zone, [Parameter(Mandatory)] [string] $ComputerName)
    if (@('Primary', 'Secondary') -notcontains [string]$Zone.ZoneType) { return '' }
    $name = [string]$Zone.ZoneName
    $step = $script:GatewayStep
    Set-GatewayStep -Label 'read serial' -Arg 'ZoneName'
    try {
        foreach ($record in @(Get-DnsServerResourceRecord -ZoneName $name -RRType 'SOA' -ComputerName $ComputerName)) {
            return [string]$record.RecordData.SerialNumber
        }
    } catch {
        Add-GatewayWarning -Code 'serial_unreadable' -Target $name -Message 'The serial number of the zone could not be read.'
    }
    Set-GatewayStep -Label $step
    ''
}

# Writes the record of the aging of a zone. Server contains the scavenging settings of the server, or $null if they
# could not be read.
function ConvertTo-GatewayZoneAging {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Aging, [AllowNull()] [object] $Server)
    $hours = $null
    if ($null -ne $Server) { $hours = [int](ConvertTo-GatewayHour -Span $Server.ScavengingInterval) }
    $available = ''
    if ([bool]$Aging.AgingEnabled) { $available = [string](ConvertTo-GatewayTime -Time $Aging.AvailForScavengeTime) }
    [ordered]@{
        zoneName              = [string]$Aging.ZoneName
        enabled               = [bool]$Aging.AgingEnabled
        refreshHours          = [int](ConvertTo-GatewayHour -Span $Aging.RefreshInterval)
        noRefreshHours        = [int](ConvertTo-GatewayHour -Span $Aging.NoRefreshInterval)
        scavengeServers       = [string[]]@(Get-GatewayAddressText -Address $Aging.ScavengeServers)
        availableAt           = [string]$available
        serverScavengingHours = $hours
    }
}

# Returns the scavenging settings of the server. Reading them takes more rights than reading a zone. If they cannot
# be read, a warning says so and nothing is returned.
function Get-GatewayScavenging {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $ComputerName)
    Set-GatewayStep -Label 'read scavenging'
    try {
        Get-DnsServerScavenging -ComputerName $ComputerName
    } catch {
        $code = Get-GatewayErrorCode -Record $_
        Add-GatewayWarning -Code 'unreadable' -Target $ComputerName -Message "The scavenging settings of the server could not be read (error $code)."
    }
}

# Returns the delegated name of a delegation, relative to the zone.
function Get-GatewayChildName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Delegation, [Parameter(Mandatory)] [string] $ZoneName)
    $server = $Delegation.NameServer
    if ([string]$server.DistinguishedName -ne '') { return Get-GatewayRecordOwner -Record $server -ZoneName $ZoneName }
    $name = [string]$Delegation.ChildZoneName
    if ($name.EndsWith('.', [System.StringComparison]::Ordinal)) { return Get-GatewayRelativeName -Name $name -ZoneName $ZoneName }
    $name
}

# Returns the name that is, or is to be, delegated, relative to the zone. Ends the request if it is not below the
# zone.
function Resolve-GatewayChild {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Name, [Parameter(Mandatory)] [string] $ZoneName)
    $child = Get-GatewayRelativeName -Name $Name -ZoneName $ZoneName
    if ($child -eq '' -or $child -eq '@') {
        Stop-Gateway -Code 'unprocessable' -Arg 'ChildName' -Message "The name '$Name' does not lie below the zone '$ZoneName'."
    }
    $child
}

# Returns the delegations of a zone. With ChildName, a name relative to the zone, it returns only the delegations of
# exactly that name, or nothing if the name is not delegated.
function Get-GatewayDelegation {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [AllowNull()] [string] $ChildName,
        [AllowNull()] [string] $NameServer,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    Set-GatewayStep -Label 'list delegations' -Arg 'ZoneName'
    $found = @()
    try {
        if ($ChildName) {
            $clear = Get-GatewayClearName -Owner $ChildName -ZoneName $ZoneName
            $found = @(Get-DnsServerZoneDelegation -Name $ZoneName -ChildZoneName $clear -ComputerName $ComputerName)
        } else {
            $found = @(Get-DnsServerZoneDelegation -Name $ZoneName -ComputerName $ComputerName)
        }
    } catch {
        if (@('9714', '9701') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
    }
    $nested = $ChildName -and (Test-GatewayNested -Owner $ChildName -ZoneName $ZoneName)
    foreach ($item in $found) {
        $owner = $ChildName
        if ($nested) { $owner = Get-GatewayChildName -Delegation $item -ZoneName $ZoneName }
        if (-not [string]::Equals($owner, $ChildName, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
        $server = ([string]$item.NameServer.RecordData.NameServer).TrimEnd([char]'.')
        if (-not $NameServer -or $server.Equals($NameServer, [System.StringComparison]::OrdinalIgnoreCase)) { $item }
    }
}

# If a relative name ends with the name of its zone, a server could take it for a full name. Returns the delegation
# that the server would then use. For other names, nothing is returned.
function Get-GatewayOtherDelegation {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $ChildName,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    if (-not (Test-GatewayNested -Owner $ChildName -ZoneName $ZoneName)) { return }
    $other = Get-GatewayRelativeName -Name $ChildName -ZoneName $ZoneName
    if ($other -eq '@') { return }
    Get-GatewayDelegation -ZoneName $ZoneName -ChildName $other -ComputerName $ComputerName
}

# Ends the request if the removed delegation is not the one of ChildName. The removed delegation is then restored.
function Assert-GatewayDelegationKept {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $ChildName,
        [AllowNull()] [AllowEmptyCollection()] [object[]] $Delegation,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $present = @(Get-GatewayOtherDelegation -ZoneName $ZoneName -ChildName $ChildName -ComputerName $ComputerName)
    $kept = [string[]]@(foreach ($record in @(ConvertTo-GatewayDelegation -Delegation $present)) { $record['nameServer'] })
    foreach ($record in @(ConvertTo-GatewayDelegation -Delegation @($Delegation))) {
        if (Test-GatewayAmong -Text $record['nameServer'] -List $kept) { continue }
        $restore = {
            param($ZoneName, $Record, $ComputerName)
            $again = @{
                Name = $ZoneName; ChildZoneName = $Record['childName']; NameServer = $Record['nameServer']
                IPAddress = $Record['ipAddresses']; ComputerName = $ComputerName; Confirm = $false
            }
            Add-DnsServerZoneDelegation @again
        }
        $arguments = @{ ZoneName = $ZoneName; Record = $record; ComputerName = $ComputerName }
        Complete-GatewayStep -Label 'remove delegation' -Dn $record['childName'] -Undo $restore -Arguments $arguments
        $there = Get-GatewayRelativeName -Name $ChildName -ZoneName $ZoneName
        Stop-GatewayOtherName -Named $ChildName -Changed $there -ZoneName $ZoneName -Arg 'ChildName'
    }
}

# Refuses a name server in the zone that has other addresses there, because the given ones would be added to that
# host. If the zone does not have the name server yet, it gets the addresses, so its name must not be guarded.
function Assert-GatewayNameServer {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Target,
        [Parameter(Mandatory)] [string[]] $Address,
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $owner = Get-GatewayRelativeName -Name ($Target + '.') -ZoneName $ZoneName
    if ($owner -eq '') { return }
    Set-GatewayStep -Label 'check name server' -Arg 'NameServer'
    $known = [System.Collections.Generic.List[string]]::new()
    foreach ($record in @(Get-GatewayBranch -ZoneName $ZoneName -Name $owner -ComputerName $ComputerName)) {
        if (-not (Test-GatewayOwner -Record $record -Owner $owner -ZoneName $ZoneName)) { continue }
        if ([string]$record.RecordType -eq 'CNAME') {
            Stop-Gateway -Code 'conflict' -Arg 'NameServer' -Message "The name server '$Target' is a CNAME, which cannot have addresses."
        }
        if (@('A', 'AAAA') -contains [string]$record.RecordType) {
            foreach ($text in @(Get-GatewayAddressText -Address @($record.RecordData.IPv4Address, $record.RecordData.IPv6Address))) { $known.Add($text) }
        }
    }
    if ($known.Count -eq 0) {
        Assert-GatewayName -Name $Target -KnownController $KnownController -GuardedName $GuardedName -Privileged $Privileged -Arg 'NameServer'
        return
    }
    foreach ($text in $Address) {
        if (-not (Test-GatewayAmong -Text $text -List $known.ToArray())) {
            Stop-Gateway -Code 'conflict' -Arg 'IP_Address' -Message "The zone '$ZoneName' has other addresses for the name server '$Target'."
        }
    }
}

# Returns the image of a delegation to one name server, from its record.
function Get-GatewayDelegationImage {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [System.Collections.IDictionary] $Record)
    $attributes = [ordered]@{ nameServer = [string]$Record['nameServer']; ipAddresses = [string]($Record['ipAddresses'] -join ',') }
    [ordered]@{ attributes = $attributes }
}

# Writes the records of delegations, one for each name server, ordered by name and name server (facts NC6).
function ConvertTo-GatewayDelegation {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Delegation)
    $zero = [string][char]0
    $found = [System.Collections.Generic.List[object]]::new()
    $keys = [System.Collections.Generic.List[string]]::new()
    foreach ($item in $Delegation) {
        $addresses = [System.Collections.Generic.List[string]]::new()
        foreach ($address in @($item.IPAddress)) {
            if ($null -eq $address) { continue }
            foreach ($text in @(Get-GatewayAddressText -Address @($address.RecordData.IPv4Address, $address.RecordData.IPv6Address))) { $addresses.Add($text) }
        }
        $server = ([string]$item.NameServer.RecordData.NameServer).TrimEnd([char]'.')
        $child = [string]$item.ChildZoneName
        if (('.' + $child.TrimEnd([char]'.')).EndsWith('.' + [string]$item.ZoneName, [System.StringComparison]::OrdinalIgnoreCase)) {
            $owner = Get-GatewayChildName -Delegation $item -ZoneName ([string]$item.ZoneName)
            $child = Get-GatewayClearName -Owner $owner -ZoneName ([string]$item.ZoneName)
        }
        $found.Add([ordered]@{
                zoneName    = [string]$item.ZoneName
                childName   = [string]$child
                nameServer  = [string]$server
                ipAddresses = [string[]]$addresses.ToArray()
            })
        $keys.Add($child.ToUpperInvariant() + $zero + $server.ToUpperInvariant())
    }
    $sorted = $found.ToArray()
    $order = $keys.ToArray()
    [System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
    $sorted
}
