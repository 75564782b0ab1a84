# Functions shared by the scripts of records: names, reading, comparing, projections. The differences between types
# are in the table of prelude.types.ps1.

# Returns the deepest zone of this server that contains a name, if its records can be written here, and nothing
# otherwise. Zone contains the server's zones. Without it, the server is asked. Limits are not considered.
function Find-GatewayZoneOfName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [string] $ComputerName,
        [AllowNull()] [object[]] $Zone
    )
    if ($null -eq $Zone) {
        Set-GatewayStep -Label 'list zones'
        $Zone = @(Get-DnsServerZone -ComputerName $ComputerName)
    }
    $bare = $Name.TrimEnd([char]'.')
    $best = $null
    $length = 0
    foreach ($item in $Zone) {
        $text = [string]$item.ZoneName
        if ($text.Length -le $length) { continue }
        if (('.' + $bare).EndsWith('.' + $text, [System.StringComparison]::OrdinalIgnoreCase)) {
            $best = $item
            $length = $text.Length
        }
    }
    if ($null -ne $best -and [string]$best.ZoneType -eq 'Primary' -and -not [bool]$best.IsAutoCreated) { return $best }
}

# Returns the name of the PTR record of an address, without a trailing dot.
function Get-GatewayReverseName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Address)
    $bytes = ([System.Net.IPAddress]$Address).GetAddressBytes()
    if ($bytes.Length -eq 4) { return "$($bytes[3]).$($bytes[2]).$($bytes[1]).$($bytes[0]).in-addr.arpa" }
    $digits = [System.BitConverter]::ToString($bytes).Replace('-', '').ToLowerInvariant()
    $name = 'ip6.arpa'
    for ($i = 0; $i -lt $digits.Length; $i++) { $name = $digits.Substring($i, 1) + '.' + $name }
    $name
}

# Returns an owner name as a full name without a trailing dot.
function Get-GatewayFullName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Owner, [Parameter(Mandatory)] [string] $ZoneName)
    if ($Owner -eq '@') { return $ZoneName }
    $Owner + '.' + $ZoneName
}

# Returns the fields of values in the form in which the server shows them. Targets are completed with the zone, and
# addresses are in the form in which .NET writes them. Data may contain several values, one after another.
function Get-GatewayRecordData {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Type,
        [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
        [Parameter(Mandatory)] [string] $ZoneName
    )
    if ($null -eq $Data) { return }
    $fields = @($GatewayRecordTypes[$Type].fields)
    if ($fields.Length -eq 0 -or -not $GatewayRecordTypes[$Type].writable) { return $Data }
    for ($i = 0; $i -lt $Data.Length; $i++) {
        $text = $Data[$i]
        $form = [string]$fields[$i % $fields.Length].form
        if ($text -ne '' -and $form -eq 'name') { $text = Get-GatewayTargetName -Target $text -ZoneName $ZoneName }
        if ($text -ne '' -and $form -eq 'address') { $text = [string][System.Net.IPAddress]$text }
        $text
    }
}

# Returns the records that have a type and data. An empty field matches any value.
function Select-GatewayRecord {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyCollection()] [object[]] $Record,
        [Parameter(Mandatory)] [string] $Type,
        [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data
    )
    $fields = $GatewayRecordTypes[$Type].fields
    if ($null -eq $Data) { $Data = @() }
    foreach ($item in $Record) {
        if ($null -eq $item -or -not (Get-GatewayRecordKind -Record $item).Equals($Type, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
        $have = @(Get-GatewayRecordField -Record $item)
        $same = $true
        for ($i = 0; $i -lt $Data.Length; $i++) {
            if ($Data[$i] -eq '') { continue }
            $way = [System.StringComparison]::OrdinalIgnoreCase
            if ($fields[$i].form -eq 'text') { $way = [System.StringComparison]::Ordinal }
            if (-not $have[$i].Equals($Data[$i], $way)) { $same = $false }
        }
        if ($same) { $item }
    }
}

# Returns the owner name of a record relative to its zone. It is the owner name of its object in the directory or, if
# there is none, of the record.
function Get-GatewayRecordOwner {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record, [Parameter(Mandatory)] [string] $ZoneName)
    $owner = [string]$Record.HostName
    $dn = [string]$Record.DistinguishedName
    if ($dn.StartsWith('DC=', [System.StringComparison]::OrdinalIgnoreCase)) {
        $parent = Get-GatewayParentDn -Dn $dn
        $owner = $dn.Substring(3, $dn.Length - $parent.Length - 4)
        if ($owner.Contains('\')) { # only the character after each backslash counts
            $rest = $owner
            $owner = ''
            while ($rest.Contains('\')) {
                $at = $rest.IndexOf([char]'\')
                $owner += $rest.Substring(0, $at) + $rest.Substring($at + 1, 1)
                $rest = $rest.Substring($at + 2)
            }
            $owner += $rest
        }
    }
    if ($owner.EndsWith('.', [System.StringComparison]::Ordinal)) { return Get-GatewayRelativeName -Name $owner -ZoneName $ZoneName }
    $owner
}

# Returns the type of a record. If the module has no name for it, this is the name for its number, or TYPE with the
# number (RFC 3597).
function Get-GatewayRecordKind {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $kind = ([string]$Record.RecordType).ToUpperInvariant()
    if ($null -ne $GatewayRecordTypes[$kind]) { return $kind }
    $number = [string]$Record.Type
    if ($null -ne $GatewayNumberedTypes[$number]) { return $GatewayNumberedTypes[$number] }
    if ($kind -eq '' -or $kind -eq 'UNKNOWN') { return 'TYPE' + $number }
    $kind
}

# Returns the number for a word with which Windows shows it.
function Get-GatewayWordNumber {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyString()] [string] $Text, [Parameter(Mandatory)] [string[]] $Word)
    for ($i = 0; $i -lt $Word.Length; $i++) {
        if ($Text.Equals($Word[$i], [System.StringComparison]::OrdinalIgnoreCase)) { return [string]$i }
    }
    $Text
}

# Returns the word that Windows accepts for a number.
function Get-GatewayNumberWord {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Number, [Parameter(Mandatory)] [string[]] $Word)
    $Word[[int]$Number]
}

# Returns a target in the form that the cmdlets accept, which is a full name with a trailing dot.
function Get-GatewayFullTarget {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Target)
    if ($Target.EndsWith('.', [System.StringComparison]::Ordinal)) { return $Target }
    $Target + '.'
}

# Returns the fields of data that the module shows as octets in hexadecimal digits, or nothing if the octets do not
# have this form.
function Get-GatewayWiredField {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyString()] [string] $Hex, [Parameter(Mandatory)] [string[]] $Wire)
    $octets = [byte[]]@(for ($i = 0; $i + 1 -lt $Hex.Length; $i += 2) { [Convert]::ToInt32($Hex.Substring($i, 2), 16) })
    $at = 0
    $fields = @()
    foreach ($way in $Wire) {
        $size = $octets.Length - $at
        if ($way -eq 'octet') { $size = 1 }
        if ($way -eq 'counted' -and $size -gt 0) {
            $size = [int]$octets[$at]
            $at++
        }
        if ($size -lt 1 -or $at + $size -gt $octets.Length) { return }
        if ($way -eq 'octet') {
            $fields += [string][int]$octets[$at]
        } elseif ($way -eq 'hex') {
            $fields += $Hex.Substring(2 * $at).ToLowerInvariant()
        } else {
            $fields += $GatewayUtf8.GetString([byte[]]@(for ($i = $at; $i -lt $at + $size; $i++) { $octets[$i] }))
        }
        $at += $size
    }
    $fields
}

# Returns the octets of fields in hexadecimal.
function ConvertTo-GatewayWire {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string[]] $Data, [Parameter(Mandatory)] [string[]] $Wire)
    $hex = ''
    for ($i = 0; $i -lt $Wire.Length; $i++) {
        if ($Wire[$i] -eq 'hex') {
            $hex += $Data[$i].ToUpperInvariant()
        } elseif ($Wire[$i] -eq 'octet') {
            $hex += [System.BitConverter]::ToString([byte[]]@([int]$Data[$i]))
        } else {
            $octets = $GatewayUtf8.GetBytes($Data[$i])
            if ($Wire[$i] -eq 'counted') { $hex += [System.BitConverter]::ToString([byte[]]@([int]$octets.Length)) }
            $hex += [System.BitConverter]::ToString($octets).Replace('-', '')
        }
    }
    $hex
}

# Returns whether a record belongs to a name relative to the zone.
function Test-GatewayOwner {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record, [Parameter(Mandatory)] [string] $Owner, [Parameter(Mandatory)] [string] $ZoneName)
    [string]::Equals((Get-GatewayRecordOwner -Record $Record -ZoneName $ZoneName), $Owner, [System.StringComparison]::OrdinalIgnoreCase)
}

# Returns all records of exactly one name, no matter how the server interprets the name. If the zone does not have
# the name, the server raises an error (facts E55), and nothing is returned.
function Get-GatewayNode {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Owner,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    if ($Owner -eq '' -or ($Owner -ne '@' -and $Owner.Length + 1 + $ZoneName.Length -gt 253)) { return }
    $clear = Get-GatewayClearName -Owner $Owner -ZoneName $ZoneName
    try {
        foreach ($record in @(Get-DnsServerResourceRecord -ZoneName $ZoneName -Name $clear -Node -ComputerName $ComputerName)) {
            if (Test-GatewayOwner -Record $record -Owner $Owner -ZoneName $ZoneName) { $record }
        }
    } catch {
        if (@('9714', '9701') -notcontains (Get-GatewayErrorCode -Record $_)) { throw }
    }
}

# Returns the place of a record, which is its zone, and its names in the zone's spelling. An address may replace
# zone and name. The limits of the caller, and the guards for privileged changes, are checked before anything is
# looked up. Reads pass no Guards. Missing is the error code if an address has no reverse zone here.
function Resolve-GatewayRecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Type,
        [string] $ZoneName,
        [string] $Name,
        [string] $Address,
        [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [AllowNull()] [hashtable] $Guards,
        [string] $Missing = 'not_found',
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $given = $Name
    if ($Address) {
        $given = Get-GatewayReverseName -Address $Address
        $Name = $given + '.'
        $zone = Find-GatewayZoneOfName -Name $Name -ComputerName $ComputerName
        if ($null -eq $zone) {
            Stop-Gateway -Code $Missing -Arg 'Address' -Message "This server has no primary reverse zone that holds $Address."
        }
        $ZoneName = [string]$zone.ZoneName
    }
    Assert-GatewayAllowedZone -ZoneName $ZoneName -AllowedZone $AllowedZone
    $owner = Get-GatewayRelativeName -Name $Name -ZoneName $ZoneName
    if ($null -ne $Guards) {
        if ($owner -eq '') {
            Stop-Gateway -Code $Missing -Arg 'Name' -Message "The name '$Name' lies outside the zone '$ZoneName'."
        }
        $guard = @{ Privileged = [bool]$Guards.Privileged; KnownController = $Guards.KnownController; GuardedName = $Guards.GuardedName }
        Assert-GatewayName -Name (Get-GatewayFullName -Owner $owner -ZoneName $ZoneName) -Arg 'Name' @guard
        if ($GatewayRecordTypes[$Type].reverse) { Assert-GatewayReverseTarget -Data $Data @guard }
    }
    if (-not $Address) { $zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone }
    $written = [string]$zone.ZoneName
    if ($null -ne $Guards) { Assert-GatewayOneName -Name $Name -ZoneName $written -Arg 'Name' -ComputerName $ComputerName }
    @{
        zone  = $zone
        name  = $written
        given = $given
        owner = $owner
        fqdn  = Get-GatewayFullName -Owner $owner -ZoneName $written
        data  = @(Get-GatewayRecordData -Type $Type -Data $Data -ZoneName $written)
    }
}

# Refuses an ambiguous name. A name without a trailing dot is treated as a full name, but the zone may also have
# records at this name below its own.
function Assert-GatewayOneName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Arg,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    if (-not (Test-GatewayNested -Owner $Name -ZoneName $ZoneName)) { return }
    Set-GatewayStep -Label 'check name' -Arg $Arg
    if (@(Get-GatewayNode -ZoneName $ZoneName -Owner $Name -ComputerName $ComputerName).Length -eq 0) { return }
    $ways = @(($Name + '.'), (Get-GatewayClearName -Owner $Name -ZoneName $ZoneName))
    $message = "The name '$Name' can mean '$($ways[0])' and '$($ways[1])', and the zone has records at the latter. Write which one, with its dot."
    Stop-Gateway -Code 'ambiguous' -Arg $Arg -Message $message -Detail $ways
}

# Returns the one record of a place that has the data. Ends the request if there is none, or if there are several.
function Find-GatewayRecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Type,
        [Parameter(Mandatory)] [hashtable] $Place,
        [AllowNull()] [AllowEmptyCollection()] [object[]] $Present
    )
    $found = @(Select-GatewayRecord -Record $Present -Type $Type -Data $Place.data)
    if ($found.Length -gt 1) {
        Stop-GatewayAmbiguous -Record @(ConvertTo-GatewayRecord -Record $found -ZoneName $Place.name -Type $Type)
    }
    if ($found.Length -eq 1) { return $found[0] }
    $message = "There is no $Type record '$($Place.given)' with these data in the zone '$($Place.name)'."
    Stop-Gateway -Code 'not_found' -Arg 'Name' -Message $message
}

# Ends a request that several records match.
function Stop-GatewayAmbiguous {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object[]] $Record)
    $candidates = @(foreach ($item in $Record) { "$($item.name) $($item.type) $($item.data) in the zone '$($item.zone)'" })
    Stop-Gateway -Code 'ambiguous' -Arg 'Name' -Message "$($Record.Length) records match. Say which one is meant." -Detail $candidates
}

# Writes records of one zone: those of one type in the form of the type, or those of any type in the common form.
function ConvertTo-GatewayRecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Record,
        [Parameter(Mandatory)] [string] $ZoneName,
        [string] $Type
    )
    $brief = $Type -and $GatewayRecordTypes[$Type].brief
    $nested = '.' + $ZoneName
    foreach ($item in $Record) {
        $owner = [string]$item.HostName
        $name = $owner
        if (('.' + $owner.TrimEnd([char]'.')).EndsWith($nested, [System.StringComparison]::OrdinalIgnoreCase)) {
            $owner = Get-GatewayRecordOwner -Record $item -ZoneName $ZoneName
            $name = Get-GatewayClearName -Owner $owner -ZoneName $ZoneName
        }
        $stamp = ''
        if ($null -ne $item.Timestamp) {
            $stamp = ([datetime]$item.Timestamp).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant)
        }
        $kind = ([string]$item.RecordType).ToUpperInvariant()
        if ($null -eq $GatewayRecordTypes[$kind]) { $kind = Get-GatewayRecordKind -Record $item }
        $fields = @(Get-GatewayRecordField -Record $item)
        $report = [ordered]@{
            name      = [string]$name
            type      = [string]$kind
            data      = [string]($fields -join ' ')
            zone      = [string]$ZoneName
            timestamp = [string]$stamp
        }
        $report['ttl'] = [long]$item.TimeToLive.TotalSeconds # of a brief record, only for its entity tag
        if (-not $brief) {
            $report['fqdn'] = [string](Get-GatewayFullName -Owner $owner -ZoneName $ZoneName)
            if (-not $Type) { foreach ($member in $GatewayRecordMembers) { $report[$member] = $null } }
            $known = $GatewayRecordTypes[$kind]
            if ($known.apart -and -not $Type) { $known = $null }
            if (-not ([int]$fields.Length -eq [int]$known.fields.Length)) { $known = $null } # does not have the form of its type
            $i = 0
            foreach ($field in $known.fields) {
                $member = [string]$field.member
                if ($member -ne '' -and $field.form -eq 'number') { $report[$member] = [int]$fields[$i] }
                if ($member -ne '' -and $field.form -ne 'number') { $report[$member] = [string]$fields[$i] }
                $i++
            }
        }
        $report
    }
}

# Writes the set that consists of records of one name and type. They are in the order of their data.
function ConvertTo-GatewayRecordSet {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object[]] $Record,
        [Parameter(Mandatory)] [string] $ZoneName
    )
    $records = @(ConvertTo-GatewayRecord -Record $Record -ZoneName $ZoneName)
    $data = [string[]]@(foreach ($item in $records) { $item.data })
    $sorted = [string[]]@(foreach ($text in $data) { $text })
    [System.Array]::Sort([System.Array]$data, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
    $lowest = [long]$records[0].ttl
    foreach ($item in $records) { if ($item.ttl -lt $lowest) { $lowest = [long]$item.ttl } }
    [ordered]@{
        name = [string]$records[0].name
        type = [string]$records[0].type
        zone = [string]$ZoneName
        fqdn = [string]$records[0].fqdn
        ttl  = [long]$lowest
        data = [string[]]$sorted
    }
}

# Returns whether a record in the common form has a full name, or leads to it.
function Test-GatewayNaming {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Report, [Parameter(Mandatory)] [string] $Name)
    if ([string]::Equals($Report.fqdn, $Name, [System.StringComparison]::OrdinalIgnoreCase)) { return $true }
    $words = $Report.data.Split([char]' ')
    $i = 0
    foreach ($field in $GatewayRecordTypes[[string]$Report.type].fields) {
        if (@('name', 'dotted') -contains $field.form -and $i -lt $words.Length) {
            if ([string]::Equals($words[$i].TrimEnd([char]'.'), $Name, [System.StringComparison]::OrdinalIgnoreCase)) { return $true }
        }
        $i++
    }
    $false
}

# Returns the zones whose records the server holds and that the caller may see.
function Get-GatewayHeldZone {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    Set-GatewayStep -Label 'list zones'
    foreach ($zone in @(Get-DnsServerZone -ComputerName $ComputerName)) {
        if ([bool]$zone.IsAutoCreated -or [string]$zone.ZoneName -eq 'TrustAnchors') { continue }
        if (@('Forwarder', 'Stub') -contains [string]$zone.ZoneType) { continue }
        if (Test-GatewayAllowedZone -ZoneName ([string]$zone.ZoneName) -AllowedZone $AllowedZone) { $zone }
    }
}

# Warns that the records of a zone are missing, because of an error.
function Add-GatewayUnreadable {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $ZoneName, [Parameter(Mandatory)] [object] $Record)
    $code = Get-GatewayErrorCode -Record $Record
    $message = "The records of this zone could not be read (error $code); they are missing from the list."
    Add-GatewayWarning -Code 'zone_unreadable' -Target $ZoneName -Message $message
}

# Returns the records of one zone, or of all zones whose records the server holds. With Type, it returns the records
# of this type in the form of the type, and without it all records in the common form. With Name or Data, it returns
# only records with exactly this owner name or this data.
function Get-GatewayRecordReport {
    [CmdletBinding()]
    param(
        [string] $Type,
        [AllowNull()] [string] $ZoneName,
        [AllowNull()] [string] $Name,
        [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $zones = [System.Collections.Generic.List[object]]::new()
    if ($ZoneName) {
        $zones.Add((Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone))
    } else {
        foreach ($zone in @(Get-GatewayHeldZone -AllowedZone $AllowedZone -ComputerName $ComputerName)) { $zones.Add($zone) }
    }
    # The list is ordered by name, zone, type and data, so all zones are read before the first record is
    # written.
    $zero = [string][char]0
    $found = [System.Collections.Generic.List[object]]::new()
    $keys = [System.Collections.Generic.List[string]]::new()
    foreach ($zone in $zones) {
        $zoneText = [string]$zone.ZoneName
        Set-GatewayStep -Label 'list records' -Arg 'ZoneName'
        try {
            if ($Name) {
                $owner = Get-GatewayRelativeName -Name $Name -ZoneName $zoneText
                $records = @(Get-GatewayNode -ZoneName $zoneText -Owner $owner -ComputerName $ComputerName)
            } elseif ($Type -and $GatewayRecordTypes[$Type].number -gt 0) {
                $number = [int]$GatewayRecordTypes[$Type].number
                $records = @(Get-DnsServerResourceRecord -ZoneName $zoneText -Type $number -ComputerName $ComputerName)
            } elseif ($Type) {
                $records = @(Get-DnsServerResourceRecord -ZoneName $zoneText -RRType $Type -ComputerName $ComputerName)
            } else {
                $records = @(Get-DnsServerResourceRecord -ZoneName $zoneText -ComputerName $ComputerName)
            }
            if ($Type) {
                $wanted = @(Get-GatewayRecordData -Type $Type -Data $Data -ZoneName $zoneText)
                $records = @(Select-GatewayRecord -Record $records -Type $Type -Data $wanted)
            }
            foreach ($record in @(ConvertTo-GatewayRecord -Record $records -ZoneName $zoneText -Type $Type)) {
                $found.Add($record)
                $owner = $record['name'].ToUpperInvariant() + $zero + $zoneText.ToUpperInvariant()
                $keys.Add($owner + $zero + $record['type'] + $zero + $record['data'].ToUpperInvariant())
            }
        } catch {
            if ($ZoneName) { throw }
            Add-GatewayUnreadable -ZoneName $zoneText -Record $_
        }
    }
    $sorted = $found.ToArray()
    $order = $keys.ToArray()
    [System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
    $sorted
}
