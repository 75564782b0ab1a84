# The types of records, generated from the table RecordTypes of gateway/schema: do not edit.
#     go test ./gateway/schema -run TestScriptsKnowTheTypes -update

$GatewayRecordTypes = @{
    'CNAME' = @{
        alone = $true; brief = $true; address = $false; reverse = $false
        fields = @(
            @{ property = 'HostNameAlias'; form = 'name'; member = '' }
        )
    }
    'A' = @{
        alone = $false; brief = $false; address = $true; reverse = $false
        fields = @(
            @{ property = 'IPv4Address'; form = 'address'; member = '' }
        )
    }
    'AAAA' = @{
        alone = $false; brief = $false; address = $true; reverse = $false
        fields = @(
            @{ property = 'IPv6Address'; form = 'address'; member = '' }
        )
    }
    'PTR' = @{
        alone = $false; brief = $false; address = $false; reverse = $true
        fields = @(
            @{ property = 'PtrDomainName'; form = 'name'; member = '' }
        )
    }
    'TXT' = @{
        alone = $false; brief = $false; address = $false; reverse = $false
        fields = @(
            @{ property = 'DescriptiveText'; form = 'text'; member = '' }
        )
    }
    'SRV' = @{
        alone = $false; brief = $false; address = $false; reverse = $false
        fields = @(
            @{ property = 'Priority'; form = 'number'; member = 'priority' }
            @{ property = 'Weight'; form = 'number'; member = 'weight' }
            @{ property = 'Port'; form = 'number'; member = 'port' }
            @{ property = 'DomainName'; form = 'name'; member = 'target' }
        )
    }
    'MX' = @{
        alone = $false; brief = $false; address = $false; reverse = $false
        fields = @(
            @{ property = 'Preference'; form = 'number'; member = 'preference' }
            @{ property = 'MailExchange'; form = 'name'; member = 'target' }
        )
    }
    'NS' = @{
        alone = $false; brief = $false; address = $false; reverse = $false
        fields = @(
            @{ property = 'NameServer'; form = 'name'; member = '' }
        )
    }
    'SOA' = @{
        alone = $false; brief = $false; address = $false; reverse = $false
        fields = @(
            @{ property = 'PrimaryServer'; form = 'dotted'; member = '' }
            @{ property = 'ResponsiblePerson'; form = 'dotted'; member = '' }
            @{ property = 'SerialNumber'; form = 'number'; member = '' }
            @{ property = 'RefreshInterval'; form = 'seconds'; member = '' }
            @{ property = 'RetryDelay'; form = 'seconds'; member = '' }
            @{ property = 'ExpireLimit'; form = 'seconds'; member = '' }
            @{ property = 'MinimumTimeToLive'; form = 'seconds'; member = '' }
        )
    }
}

# The members of records that only some types have.
$GatewayRecordMembers = @('target', 'priority', 'weight', 'port', 'preference')

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
        ZoneName = $ZoneName; Name = $Owner; ComputerName = $ComputerName
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
