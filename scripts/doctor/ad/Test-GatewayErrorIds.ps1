# Raises errors whose ids and types the gateway maps to error codes.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

New-ADUser -Name ($Prefix + 'x1') -SamAccountName ($Prefix + 'x1') -Path $Base -Server $Server -Confirm:$false
Test-GatewayFact -Fact 'no such user' -Action { Get-ADUser -Identity ($Prefix + 'nobody') -Server $Server }
Test-GatewayFact -Fact 'no such object, by GUID' -Action { Get-ADObject -Identity '00000000-0000-0000-0000-000000000001' -Server $Server }
Test-GatewayFact -Fact 'DN that is none' -Action { Get-ADOrganizationalUnit -Identity 'OU=a,,DC=b' -Server $Server }
Test-GatewayFact -Fact 'search base that is not there' -Action {
    Get-ADObject -LDAPFilter '(objectClass=*)' -SearchBase ('OU=' + $Prefix + 'nowhere,' + $Base) -Server $Server
}
Test-GatewayFact -Fact 'parent that is not there' -Action {
    New-ADUser -Name ($Prefix + 'x2') -SamAccountName ($Prefix + 'x2') -Path ('OU=' + $Prefix + 'nowhere,' + $Base) -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'name that is taken' -Action {
    New-ADUser -Name ($Prefix + 'x1') -SamAccountName ($Prefix + 'x3') -Path $Base -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'account name that is taken' -Action {
    New-ADUser -Name ($Prefix + 'x4') -SamAccountName ($Prefix + 'x1') -Path $Base -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'attribute that the schema lacks' -Action {
    Set-ADUser -Identity ($Prefix + 'x1') -Replace @{ adgatewayNoSuchAttribute = 'x' } -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'property that the schema lacks' -Action {
    Get-ADUser -Identity ($Prefix + 'x1') -Properties 'adgatewayNoSuchAttribute' -Server $Server
}
Test-GatewayFact -Fact 'text that is too long' -Action {
    Set-ADUser -Identity ($Prefix + 'x1') -Initials 'abcdefg' -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'filter that is none' -Action {
    Get-ADObject -LDAPFilter '(name=a' -Server $Server
}
Test-GatewayFact -Fact 'server that is none' -Action {
    Get-ADUser -Identity ($Prefix + 'x1') -Server ($Prefix + 'nowhere.invalid')
}
Test-GatewayFact -Fact 'primary group that is none' -Action {
    Set-ADUser -Identity ($Prefix + 'x1') -Replace @{ primaryGroupID = 9999999 } -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'attribute that cannot be cleared' -Action {
    Set-ADUser -Identity ($Prefix + 'x1') -Clear 'accountExpires' -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'attribute that only the system writes' -Action {
    Set-ADUser -Identity ($Prefix + 'x1') -Replace @{ whenCreated = '20200101000000.0Z' } -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'attribute that its class lacks' -Action {
    Set-ADUser -Identity ($Prefix + 'x1') -Replace @{ groupType = 2 } -Server $Server -Confirm:$false
}
