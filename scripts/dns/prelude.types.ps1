# The types of records, generated from the table RecordTypes of gateway/schema: do not edit.
#     go test ./gateway/schema -run TestScriptsKnowTheTypes -update

$GatewayRecordTypes = @{
    'CNAME' = @{
        writable = $true; alone = $true; brief = $true; address = $false; reverse = $false
        fields = @(
            @{ form = 'name'; member = '' }
        )
    }
    'A' = @{
        writable = $true; alone = $false; brief = $false; address = $true; reverse = $false
        fields = @(
            @{ form = 'address'; member = '' }
        )
    }
    'AAAA' = @{
        writable = $true; alone = $false; brief = $false; address = $true; reverse = $false
        fields = @(
            @{ form = 'address'; member = '' }
        )
    }
    'PTR' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $true
        fields = @(
            @{ form = 'name'; member = '' }
        )
    }
    'TXT' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $false
        fields = @(
            @{ form = 'text'; member = '' }
        )
    }
    'SRV' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $false
        fields = @(
            @{ form = 'number'; member = 'priority' }
            @{ form = 'number'; member = 'weight' }
            @{ form = 'number'; member = 'port' }
            @{ form = 'name'; member = 'target' }
        )
    }
    'MX' = @{
        writable = $true; alone = $false; brief = $false; address = $false; reverse = $false
        fields = @(
            @{ form = 'number'; member = 'preference' }
            @{ form = 'name'; member = 'target' }
        )
    }
    'NS' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false
        fields = @(
            @{ form = 'name'; member = '' }
        )
    }
    'SOA' = @{
        writable = $false; alone = $false; brief = $false; address = $false; reverse = $false
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

# The fields of a record's data as texts, in the order of its type. A type that is not in the table has one field,
# in the form of RFC 3597.
function Get-GatewayRecordField {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    $data = $Record.RecordData
    switch ([string]$Record.RecordType) {
        'CNAME' {
            ([string]$data.HostNameAlias).TrimEnd([char]'.')
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
            ([string]$data.PtrDomainName).TrimEnd([char]'.')
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
            ([string]$data.DomainName).TrimEnd([char]'.')
            return
        }
        'MX' {
            [string]$data.Preference
            ([string]$data.MailExchange).TrimEnd([char]'.')
            return
        }
        'NS' {
            ([string]$data.NameServer).TrimEnd([char]'.')
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
            $values.HostNameAlias = ($Data[0] + '.')
        }
    }
}

# Adds a record and returns it. Data are its fields in the order of the table. TimeToLive is in seconds; below 0 it is
# that of the zone. With Age it belongs to dynamic update.
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
        'CNAME' { Add-DnsServerResourceRecord -CNAME -HostNameAlias ($Data[0] + '.') @create }
        'A' { Add-DnsServerResourceRecord -A -IPv4Address $Data[0] @create }
        'AAAA' { Add-DnsServerResourceRecord -AAAA -IPv6Address $Data[0] @create }
        'PTR' { Add-DnsServerResourceRecord -PTR -PtrDomainName ($Data[0] + '.') @create }
        'TXT' { Add-DnsServerResourceRecord -TXT -DescriptiveText $Data[0] @create }
        'SRV' { Add-DnsServerResourceRecord -SRV -Priority $Data[0] -Weight $Data[1] -Port $Data[2] -DomainName ($Data[3] + '.') @create }
        'MX' { Add-DnsServerResourceRecord -MX -Preference $Data[0] -MailExchange ($Data[1] + '.') @create }
    }
}
