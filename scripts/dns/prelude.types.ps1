# The types of records, generated from the table RecordTypes of gateway/schema: do not edit.
#     go test ./gateway/schema -run TestScriptsKnowTheTypes -update

$GatewayRecordTypes = @{
    'CNAME' = @{
        writable = $true; alone = $true; brief = $true; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'name'; member = '' }
        )
    }
    'A' = @{
        writable = $true; alone = $false; brief = $false; address = $true; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'address'; member = '' }
        )
    }
    'AAAA' = @{
        writable = $true; alone = $false; brief = $false; address = $true; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'address'; member = '' }
        )
    }
    'PTR' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $true; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'name'; member = '' }
        )
    }
    'TXT' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'text'; member = '' }
        )
    }
    'SRV' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'number'; member = 'priority' }
            @{ form = 'number'; member = 'weight' }
            @{ form = 'number'; member = 'port' }
            @{ form = 'name'; member = 'target' }
        )
    }
    'MX' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'number'; member = 'preference' }
            @{ form = 'name'; member = 'target' }
        )
    }
    'CAA' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $true; number = 257
        fields = @(
            @{ form = 'number'; member = 'flags' }
            @{ form = 'word'; member = 'tag' }
            @{ form = 'text'; member = 'value' }
        )
    }
    'TLSA' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $true; number = 0
        fields = @(
            @{ form = 'number'; member = 'certificateUsage' }
            @{ form = 'number'; member = 'selector' }
            @{ form = 'number'; member = 'matchingType' }
            @{ form = 'hex'; member = 'certificateAssociationData' }
        )
    }
    'SSHFP' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $true; number = 44
        fields = @(
            @{ form = 'number'; member = 'algorithm' }
            @{ form = 'number'; member = 'fingerprintType' }
            @{ form = 'hex'; member = 'fingerprint' }
        )
    }
    'DNAME' = @{
        writable = $true; alone = $true; brief = $false; address = $false; reverse = $false; tree = $true; apart = $false; number = 0
        fields = @(
            @{ form = 'name'; member = '' }
        )
    }
    'NS' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'name'; member = '' }
        )
    }
    'HINFO' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'text'; member = '' }
            @{ form = 'text'; member = '' }
        )
    }
    'RP' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'name'; member = '' }
            @{ form = 'name'; member = '' }
        )
    }
    'AFSDB' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'number'; member = '' }
            @{ form = 'name'; member = '' }
        )
    }
    'RT' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'number'; member = '' }
            @{ form = 'name'; member = '' }
        )
    }
    'X25' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'text'; member = '' }
        )
    }
    'ISDN' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'text'; member = '' }
            @{ form = 'text'; member = '' }
        )
    }
    'DHCID' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'text'; member = '' }
        )
    }
    'DS' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'text'; member = '' }
            @{ form = 'text'; member = '' }
            @{ form = 'text'; member = '' }
            @{ form = 'text'; member = '' }
        )
    }
    'NAPTR' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
        )
    }
    'SOA' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false; tree = $false; apart = $false; number = 0
        fields = @(
            @{ form = 'dotted'; member = '' }
            @{ form = 'dotted'; member = '' }
            @{ form = 'number'; member = '' }
            @{ form = 'seconds'; member = '' }
            @{ form = 'seconds'; member = '' }
            @{ form = 'seconds'; member = '' }
            @{ form = 'seconds'; member = '' }
        )
    }
}

# The members of records that only some types have.
$GatewayRecordMembers = @('target', 'priority', 'weight', 'port', 'preference')

# The types that the module has no name for, by their numbers.
$GatewayNumberedTypes = @{
    '257' = 'CAA'
    '44' = 'SSHFP'
}

# The words of properties, by the numbers that stand for them in texts.
$GatewayRecordWords = @{
    CertificateUsage = @('CAConstraint', 'ServiceCertificateConstraint', 'TrustAnchorAssertion', 'DomainIssuedCertificate')
    Selector = @('FullCertificate', 'SubjectPublicKeyInfo')
    MatchingType = @('ExactMatch', 'Sha256Hash', 'Sha512Hash')
}

# The fields of a record's data as texts, in the order of its type. Data of a type that is not in the table, or that do
# not fit their type, are one field in the form of RFC 3597.
function Get-GatewayRecordField {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $data = $Record.RecordData
    $kind = ([string]$Record.RecordType).ToUpperInvariant()
    if ($null -eq $GatewayRecordTypes[$kind]) { $kind = Get-GatewayRecordKind -Record $Record }
    switch ($kind) {
        'CNAME' {
            $name = ([string]$data.HostNameAlias).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            return
        }
        'A' {
            [string]$data.IPv4Address
            return
        }
        'AAAA' {
            [string]$data.IPv6Address
            return
        }
        'PTR' {
            $name = ([string]$data.PtrDomainName).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            return
        }
        'TXT' {
            [string]$data.DescriptiveText
            return
        }
        'SRV' {
            [string]$data.Priority
            [string]$data.Weight
            [string]$data.Port
            $name = ([string]$data.DomainName).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            return
        }
        'MX' {
            [string]$data.Preference
            $name = ([string]$data.MailExchange).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            return
        }
        'CAA' {
            $fields = @(Get-GatewayWiredField -Hex ([string]$data.Data) -Wire @('octet', 'counted', 'text'))
            if ($fields.Length -gt 0) { return $fields }
        }
        'TLSA' {
            Get-GatewayWordNumber -Text ([string]$data.CertificateUsage) -Word $GatewayRecordWords.CertificateUsage
            Get-GatewayWordNumber -Text ([string]$data.Selector) -Word $GatewayRecordWords.Selector
            Get-GatewayWordNumber -Text ([string]$data.MatchingType) -Word $GatewayRecordWords.MatchingType
            ([string]$data.CertificateAssociationData).ToLowerInvariant()
            return
        }
        'SSHFP' {
            $fields = @(Get-GatewayWiredField -Hex ([string]$data.Data) -Wire @('octet', 'octet', 'hex'))
            if ($fields.Length -gt 0) { return $fields }
        }
        'DNAME' {
            $name = ([string]$data.DomainNameAlias).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            return
        }
        'NS' {
            $name = ([string]$data.NameServer).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            return
        }
        'HINFO' {
            [string]$data.Cpu
            [string]$data.OperatingSystem
            return
        }
        'RP' {
            $name = ([string]$data.ResponsiblePerson).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            $name = ([string]$data.Description).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            return
        }
        'AFSDB' {
            [string]$data.SubType
            $name = ([string]$data.ServerName).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            return
        }
        'RT' {
            [string]$data.Preference
            $name = ([string]$data.IntermediateHost).TrimEnd([char]'.')
            if (-not $name.Contains('.')) { $name += '.' } # no name of the zone
            $name
            return
        }
        'X25' {
            [string]$data.PsdnAddress
            return
        }
        'ISDN' {
            [string]$data.IsdnNumber
            [string]$data.IsdnSubAddress
            return
        }
        'DHCID' {
            [string]$data.DhcpIdentifier
            return
        }
        'DS' {
            [string]$data.KeyTag
            [string]$data.CryptoAlgorithm
            [string]$data.DigestType
            [string]$data.Digest
            return
        }
        'SOA' {
            [string]$data.PrimaryServer
            [string]$data.ResponsiblePerson
            [string]$data.SerialNumber
            [string][long]$data.RefreshInterval.TotalSeconds
            [string][long]$data.RetryDelay.TotalSeconds
            [string][long]$data.ExpireLimit.TotalSeconds
            [string][long]$data.MinimumTimeToLive.TotalSeconds
            return
        }
    }
    $hex = [string]$data.Data
    if ($hex -eq '') { return '' }
    '\# ' + [string]($hex.Length / 2) + ' ' + $hex
}

# Sets the data of a record of a type that is alone at its name.
function Set-GatewayTypedData {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record, [Parameter(Mandatory)] [string[]] $Data)
    switch ([string]$Record.RecordType) {
        'CNAME' {
            $values = $Record.RecordData
            $values.HostNameAlias = (Get-GatewayFullTarget -Target $Data[0])
        }
        'DNAME' {
            $values = $Record.RecordData
            $values.DomainNameAlias = (Get-GatewayFullTarget -Target $Data[0])
        }
    }
}

# Adds a record and returns it. Data are its fields in the order of the table. TimeToLive is in seconds; TimeToLive < 0
# means the zone's. With Age it belongs to dynamic update.
function Add-GatewayTypedRecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Owner,
        [Parameter(Mandatory)] [string] $Type,
        [Parameter(Mandatory)] [string[]] $Data,
        [int] $TimeToLive = -1,
        [bool] $Age = $false,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $create = @{
        ZoneName = $ZoneName; Name = (Get-GatewayClearName -Owner $Owner -ZoneName $ZoneName); ComputerName = $ComputerName
        AgeRecord = $Age; AllowUpdateAny = $false; PassThru = $true; Confirm = $false
    }
    if ($TimeToLive -ge 0) { $create['TimeToLive'] = [timespan]::new([long]$TimeToLive * 10000000) }
    switch ($Type) {
        'CNAME' { Add-DnsServerResourceRecord -CNAME -HostNameAlias (Get-GatewayFullTarget -Target $Data[0]) @create }
        'A' { Add-DnsServerResourceRecord -A -IPv4Address $Data[0] @create }
        'AAAA' { Add-DnsServerResourceRecord -AAAA -IPv6Address $Data[0] @create }
        'PTR' { Add-DnsServerResourceRecord -PTR -PtrDomainName (Get-GatewayFullTarget -Target $Data[0]) @create }
        'TXT' { Add-DnsServerResourceRecord -TXT -DescriptiveText $Data[0] @create }
        'SRV' {
            $create['Priority'] = $Data[0]
            $create['Weight'] = $Data[1]
            $create['Port'] = $Data[2]
            $create['DomainName'] = (Get-GatewayFullTarget -Target $Data[3])
            Add-DnsServerResourceRecord -SRV @create
        }
        'MX' { Add-DnsServerResourceRecord -MX -Preference $Data[0] -MailExchange (Get-GatewayFullTarget -Target $Data[1]) @create }
        'CAA' { Add-DnsServerResourceRecord -Type 257 -RecordData (ConvertTo-GatewayWire -Data $Data -Wire @('octet', 'counted', 'text')) @create }
        'TLSA' {
            $create['CertificateUsage'] = (Get-GatewayNumberWord -Number $Data[0] -Word $GatewayRecordWords.CertificateUsage)
            $create['Selector'] = (Get-GatewayNumberWord -Number $Data[1] -Word $GatewayRecordWords.Selector)
            $create['MatchingType'] = (Get-GatewayNumberWord -Number $Data[2] -Word $GatewayRecordWords.MatchingType)
            $create['CertificateAssociationData'] = $Data[3]
            Add-DnsServerResourceRecord -TLSA @create
        }
        'SSHFP' { Add-DnsServerResourceRecord -Type 44 -RecordData (ConvertTo-GatewayWire -Data $Data -Wire @('octet', 'octet', 'hex')) @create }
        'DNAME' { Add-DnsServerResourceRecord -DNAME -DomainNameAlias (Get-GatewayFullTarget -Target $Data[0]) @create }
    }
}
