# Tests changes that groups refuse: a change of scope in one step, and members that a scope does not allow.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

foreach ($scope in @('Global', 'DomainLocal', 'Universal')) {
    New-ADGroup -Name ($Prefix + $scope) -SamAccountName ($Prefix + $scope) -GroupScope $scope -Path $Base -Server $Server -Confirm:$false
}
$global = 'CN=' + $Prefix + 'Global,' + $Base
$local = 'CN=' + $Prefix + 'DomainLocal,' + $Base
$universal = 'CN=' + $Prefix + 'Universal,' + $Base
Test-GatewayFact -Fact 'global to domain local in one step' -Action {
    Set-ADGroup -Identity $global -GroupScope DomainLocal -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'domain local to global in one step' -Action {
    Set-ADGroup -Identity $local -GroupScope Global -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'domain local in global' -Action {
    Add-ADGroupMember -Identity $global -Members $local -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'universal in global' -Action {
    Add-ADGroupMember -Identity $global -Members $universal -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'domain local in universal' -Action {
    Add-ADGroupMember -Identity $universal -Members $local -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'group in itself' -Action {
    Add-ADGroupMember -Identity $local -Members $local -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'member that is one already' -Action {
    Add-ADGroupMember -Identity $local -Members $global -Server $Server -Confirm:$false
    Add-ADGroupMember -Identity $local -Members $global -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'universal with a global member to global' -Action {
    Add-ADGroupMember -Identity $universal -Members $global -Server $Server -Confirm:$false
    Set-ADGroup -Identity $universal -GroupScope Global -Server $Server -Confirm:$false
}
