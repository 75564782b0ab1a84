# Tests how a zone responds to CNAMEs that do not exist, or that are not allowed at their names.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $ZoneName, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $ComputerName)

$absent = $Prefix + 'absent.' + $ZoneName
$cname = @{ ZoneName = $ZoneName; ComputerName = $ComputerName; AgeRecord = $false; AllowUpdateAny = $false; Confirm = $false }
$address = @{ ZoneName = $ZoneName; ComputerName = $ComputerName; A = $true; IPv4Address = '192.0.2.1'; Confirm = $false }
Test-GatewayFact -Fact 'zone that is not there' -Action { Get-DnsServerZone -Name $absent -ComputerName $ComputerName }
Test-GatewayFact -Fact 'record in a zone that is not there' -Action {
    Get-DnsServerResourceRecord -ZoneName $absent -Name 'www' -ComputerName $ComputerName
}
Test-GatewayFact -Fact 'name that is not there' -Action {
    Get-DnsServerResourceRecord -ZoneName $ZoneName -Name ($Prefix + 'nothing') -Node -ComputerName $ComputerName
}
Add-DnsServerResourceRecord -Name ($Prefix + 'host') @address
Test-GatewayFact -Fact 'type that is not at a name' -Action {
    [string]@(Get-DnsServerResourceRecord -ZoneName $ZoneName -Name ($Prefix + 'host') -Node -RRType CName -ComputerName $ComputerName).Length + ' of the type'
}
Test-GatewayFact -Fact 'CNAME at the apex' -Action { Add-DnsServerResourceRecordCName -Name '@' -HostNameAlias 'www.example.com.' @cname }
Test-GatewayFact -Fact 'CNAME over an A record' -Action {
    Add-DnsServerResourceRecordCName -Name ($Prefix + 'host') -HostNameAlias 'www.example.com.' @cname
}
Test-GatewayFact -Fact 'first CNAME' -Action { Add-DnsServerResourceRecordCName -Name ($Prefix + 'alias') -HostNameAlias 'www.example.com.' @cname }
Test-GatewayFact -Fact 'same CNAME again' -Action { Add-DnsServerResourceRecordCName -Name ($Prefix + 'alias') -HostNameAlias 'www.example.com.' @cname }
Test-GatewayFact -Fact 'second CNAME' -Action { Add-DnsServerResourceRecordCName -Name ($Prefix + 'alias') -HostNameAlias 'www.example.net.' @cname }
Test-GatewayFact -Fact 'A record over a CNAME' -Action { Add-DnsServerResourceRecord -Name ($Prefix + 'alias') @address }
Test-GatewayFact -Fact 'CNAME that points to itself' -Action {
    Add-DnsServerResourceRecordCName -Name ($Prefix + 'self') -HostNameAlias ($Prefix + 'self.' + $ZoneName + '.') @cname
}
Test-GatewayFact -Fact 'CNAMEs in a ring' -Action {
    Add-DnsServerResourceRecordCName -Name ($Prefix + 'ring1') -HostNameAlias ($Prefix + 'ring2.' + $ZoneName + '.') @cname
    Add-DnsServerResourceRecordCName -Name ($Prefix + 'ring2') -HostNameAlias ($Prefix + 'ring1.' + $ZoneName + '.') @cname
}
Test-GatewayFact -Fact 'removal of a name that is not there' -Action {
    Remove-DnsServerResourceRecord -ZoneName $ZoneName -Name ($Prefix + 'nothing') -RRType CName -ComputerName $ComputerName -Force -Confirm:$false
}
Test-GatewayFact -Fact 'how many CNAMEs the name has in the end' -Action {
    [string]@(Get-DnsServerResourceRecord -ZoneName $ZoneName -Name ($Prefix + 'alias') -Node -RRType CName -ComputerName $ComputerName).Length + ' of the type'
}
