# Tests a change of a computer's three names in one write, as in a rename. The domain controller adapts the service
# principal names itself.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

$old = $Prefix + 'n1'
$new = $Prefix + 'n2'
$domain = [string](Get-GatewayDomain -Server $Server).dns
$spns = [string[]]@(foreach ($name in @($old, ($old + '.' + $domain))) { 'HOST/' + $name })
$wanted = [string[]]@(foreach ($name in @($new, ($new + '.' + $domain))) { 'HOST/' + $name })
$computer = @{ Name = $old; SamAccountName = $old + '$'; DNSHostName = $old + '.' + $domain; ServicePrincipalNames = $spns; Path = $Base }
New-ADComputer @computer -Server $Server -Confirm:$false
$guid = [string](Get-ADComputer -Identity ('CN=' + $old + ',' + $Base) -Server $Server).ObjectGUID
Test-GatewayFact -Fact 'three names in one write' -Action {
    Set-GatewayComputerName -Guid $guid -Sam ($new + '$') -Dns ($new + '.' + $domain) -Spns $wanted -Server $Server
}
Test-GatewayFact -Fact 'account name and DNS name after that' -Action {
    $read = Get-ADComputer -Identity $guid -Properties 'dNSHostName' -Server $Server
    ([string]$read.SamAccountName + ', ' + [string]$read.DNSHostName).Replace($domain, '<domain>')
}
Test-GatewayFact -Fact 'names of services after that' -Action {
    $computer = Get-ADComputer -Identity $guid -Properties 'servicePrincipalName' -Server $Server
    $read = [string[]]@(foreach ($spn in @($computer.servicePrincipalName)) { [string]$spn })
    (Compare-GatewayNames -Found $read -Wanted $wanted).Replace($domain, '<domain>')
}
Test-GatewayFact -Fact 'name of a service that another computer has' -Action {
    New-ADComputer -Name ($Prefix + 'n3') -SamAccountName ($Prefix + 'n3$') -ServicePrincipalNames $wanted -Path $Base -Server $Server -Confirm:$false
}
