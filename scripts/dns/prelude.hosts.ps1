# Functions for the records that name a host, which are its own records and those that lead to it. They are loaded
# after the prelude of records.

# Returns all records that name a host, in all zones whose records the server holds. For each record it has the
# zone, the object, the common form, the key, and whether the record leads to the host. Records that lead to the
# host come first, so that no record points to a missing name while they are being removed. Apart from that they are
# in the order of lists.
function Find-GatewayNaming {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $Type,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $zero = [string][char]0
    $found = [System.Collections.Generic.List[object]]::new()
    $keys = [System.Collections.Generic.List[string]]::new()
    foreach ($zone in @(Get-GatewayHeldZone -AllowedZone $AllowedZone -ComputerName $ComputerName)) {
        $zoneText = [string]$zone.ZoneName
        Set-GatewayStep -Label 'list records' -Arg 'Named'
        try {
            $records = @(Get-DnsServerResourceRecord -ZoneName $zoneText -ComputerName $ComputerName)
        } catch {
            Add-GatewayUnreadable -ZoneName $zoneText -Record $_
            continue
        }
        $reports = @(ConvertTo-GatewayRecord -Record $records -ZoneName $zoneText)
        for ($i = 0; $i -lt $reports.Length; $i++) {
            $report = $reports[$i]
            if (-not (Test-GatewayNaming -Report $report -Name $Name)) { continue }
            $kind = [string]$report.type
            if ($null -ne $Type -and $Type.Length -gt 0 -and -not (Test-GatewayListed -Text $kind -List $Type)) { continue }
            $data = [string[]]@(Get-GatewayRecordField -Record $records[$i])
            $fqdn = ([string]$report.fqdn).ToLowerInvariant()
            $leads = -not $fqdn.Equals($Name.ToLowerInvariant())
            $found.Add(@{
                    zone = $zone; name = $zoneText; record = $records[$i]; report = $report; type = $kind; data = $data
                    fqdn = $fqdn; leads = $leads; key = (Get-GatewayRecordKey -Fqdn $fqdn -Type $kind -Data $data)
                })
            $order = '1'
            if ($leads) { $order = '0' }
            $keys.Add($order + $report.name.ToUpperInvariant() + $zero + $zoneText.ToUpperInvariant() + $zero + $kind + $zero + $report.data.ToUpperInvariant())
        }
    }
    $sorted = $found.ToArray()
    $order = $keys.ToArray()
    [System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
    $sorted
}

# Returns the reason why a record remains although it names a host that is removed, or '' if the record is removed.
# Servers are the name servers that remain in the zone of an NS record, if these may be removed.
function Get-GatewayStayReason {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Item, [bool] $Controller = $false, [int] $Servers = 0)
    if ([string]$Item.zone.ZoneType -ne 'Primary') { return "its zone '$($Item.name)' is not a primary zone of this server" }
    if ($Item.type -eq 'SOA') { return 'the server writes it itself' }
    if ($Item.type -eq 'NS' -and $Item.report.name -eq '@') {
        if (-not $Controller) { return "it makes the host a name server of the zone '$($Item.name)', which DELETE /api/DnsNameServer ends" }
        if ($Servers -eq 0) { return "it is the last name server of the zone '$($Item.name)': add another one first, with POST /api/DnsNameServer" }
        return ''
    }
    if ($Item.type -eq 'NS') { return 'it is a delegation, which DELETE /api/DnsDelegation removes with its addresses' }
    if (-not $GatewayRecordTypes[$Item.type].writable) {
        return 'its type is not written here, so that no undo could bring it back; DELETE /api/DnsRecordSet removes it'
    }
    ''
}

# Refuses a record of a name that the caller may not change, because the name is outside the caller's limits or
# guarded.
function Assert-GatewayRemovable {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Item,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedName,
        [Parameter(Mandatory)] [hashtable] $Guards
    )
    if (-not (Test-GatewayAllowedName -Name $Item.fqdn -AllowedName $AllowedName)) {
        $message = "The $($Item.type) record '$($Item.fqdn)' is outside the names that the caller is limited to. Type leaves records out."
        Stop-Gateway -Code 'limit' -Arg 'Named' -Message $message
    }
    $guard = @{ Privileged = [bool]$Guards.Privileged; KnownController = $Guards.KnownController; GuardedName = $Guards.GuardedName }
    Assert-GatewayName -Name $Item.fqdn -Arg 'Named' @guard
    if ($GatewayRecordTypes[$Item.type].reverse) { Assert-GatewayReverseTarget -Data $Item.data @guard }
}

# Returns whether a full name is one of the names of a limit, or below one. The name of a challenge counts as the
# name that the challenge is for.
function Test-GatewayAllowedName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedName
    )
    if ($null -eq $AllowedName -or $AllowedName.Length -eq 0) { return $true }
    $challenge = '_acme-challenge.'
    $bare = $Name
    if ($bare.StartsWith($challenge, [System.StringComparison]::OrdinalIgnoreCase)) { $bare = $bare.Substring($challenge.Length) }
    foreach ($allowed in $AllowedName) {
        if (('.' + $bare).EndsWith('.' + $allowed.TrimEnd([char]'.'), [System.StringComparison]::OrdinalIgnoreCase)) { return $true }
    }
    $false
}

# Returns the NS records of a zone itself.
function Get-GatewayNameServer {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $ZoneName, [Parameter(Mandatory)] [string] $ComputerName)
    Set-GatewayStep -Label 'find name servers' -Arg 'ZoneName'
    Select-GatewayRecord -Record @(Get-GatewayNode -ZoneName $ZoneName -Owner '@' -ComputerName $ComputerName) -Type 'NS'
}

# Adds a name server to those of a zone, and returns its record.
function Add-GatewayNameServer {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $NameServer,
        [int] $TimeToLive = -1,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $create = @{
        ZoneName = $ZoneName; Name = '@'; ComputerName = $ComputerName; NameServer = (Get-GatewayFullTarget -Target $NameServer)
        PassThru = $true; Confirm = $false
    }
    if ($TimeToLive -ge 0) { $create['TimeToLive'] = [timespan]::new([long]$TimeToLive * 10000000) }
    Add-DnsServerResourceRecord -NS @create
}

# Refuses to treat a host as a controller that no longer exists if it does exist, or if it is in a domain whose
# controllers are not known here.
function Assert-GatewayGone {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $known = [string[]]@(foreach ($one in @($KnownController)) { if ($one) { $one.TrimEnd([char]'.') } })
    if ($known.Length -eq 0) {
        Stop-Gateway -Code 'unavailable' -Arg 'Named' -Message 'It is not known which domain controllers exist: none can be asked now.'
    }
    if ((Test-GatewayAmong -Text $Name -List $known) -or $Name.Equals($ComputerName.TrimEnd([char]'.'), [System.StringComparison]::OrdinalIgnoreCase)) {
        Stop-Gateway -Code 'protected' -Arg 'Named' -Message "'$Name' is a domain controller that exists. Demote it, or remove its account, first."
    }
    $domain = $Name -replace '^[^.]*\.', ''
    foreach ($one in $known) {
        if ($domain.Equals(($one -replace '^[^.]*\.', ''), [System.StringComparison]::OrdinalIgnoreCase)) { return }
    }
    $message = "'$Name' is no name of this domain, so it is not known whether such a controller exists."
    Stop-Gateway -Code 'unprocessable' -Arg 'Named' -Message "$message Ask a gateway of its domain, or remove it with DELETE /api/DnsRecord/Host."
}

# Returns the address records that a controller has left at the names of its domain. These are the records with an
# address of the host, except the addresses of existing controllers. Found contains the records that name the host.
function Find-GatewayDomainAddress {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Found,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $zones = @(Get-GatewayHeldZone -AllowedZone $AllowedZone -ComputerName $ComputerName)
    $taken = [System.Collections.Generic.List[string]]::new()
    $names = [System.Collections.Generic.List[string]]::new()
    foreach ($controller in @($KnownController)) {
        if (-not $controller) { continue }
        $domain = $controller.TrimEnd([char]'.') -replace '^[^.]*\.', ''
        if (-not (Test-GatewayAmong -Text $domain -List $names.ToArray())) { $names.Add($domain) }
        $zone = Find-GatewayZoneOfName -Name $controller -ComputerName $ComputerName -Zone $zones
        if ($null -eq $zone) { continue }
        $text = [string]$zone.ZoneName
        $owner = Get-GatewayRelativeName -Name ($controller.TrimEnd([char]'.') + '.') -ZoneName $text
        foreach ($record in @(Get-GatewayNode -ZoneName $text -Owner $owner -ComputerName $ComputerName)) {
            if ($GatewayRecordTypes[(Get-GatewayRecordKind -Record $record)].address) { $taken.Add(@(Get-GatewayRecordField -Record $record)[0]) }
        }
    }
    foreach ($zone in $zones) {
        $text = [string]$zone.ZoneName
        if ($text.StartsWith('_msdcs.', [System.StringComparison]::OrdinalIgnoreCase)) { $names.Add($text.Substring(7)) }
    }
    $left = [string[]]@(foreach ($item in $Found) {
            if ($item.leads -or -not $GatewayRecordTypes[$item.type].address) { continue }
            if (-not (Test-GatewayAmong -Text $item.data[0] -List $taken.ToArray())) { $item.data[0] }
        })
    if ($left.Length -eq 0) { return }
    $seen = @{}
    foreach ($domain in $names) {
        foreach ($full in @($domain, ('gc._msdcs.' + $domain), ('DomainDnsZones.' + $domain), ('ForestDnsZones.' + $domain))) {
            foreach ($zone in $zones) {
                $text = [string]$zone.ZoneName
                $owner = Get-GatewayRelativeName -Name ($full + '.') -ZoneName $text
                if ($owner -eq '') { continue }
                foreach ($record in @(Get-GatewayNode -ZoneName $text -Owner $owner -ComputerName $ComputerName)) {
                    $kind = Get-GatewayRecordKind -Record $record
                    if (-not $GatewayRecordTypes[$kind].address) { continue }
                    $data = [string[]]@(Get-GatewayRecordField -Record $record)
                    if (-not (Test-GatewayAmong -Text $data[0] -List $left)) { continue }
                    $fqdn = $full.ToLowerInvariant()
                    $key = Get-GatewayRecordKey -Fqdn $fqdn -Type $kind -Data $data
                    if ($seen.ContainsKey($text + ' ' + $key)) { continue }
                    $seen[$text + ' ' + $key] = $true
                    $report = @(ConvertTo-GatewayRecord -Record @($record) -ZoneName $text)[0]
                    @{ zone = $zone; name = $text; record = $record; report = $report; type = $kind; data = $data; fqdn = $fqdn; leads = $true; key = $key }
                }
            }
        }
    }
}
