# Compares the domain controllers that the module lists with the accounts from which the gateway builds its list.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Server)

$base = [string](Get-GatewayDomain -Server $Server).dn
$filter = '(|(userAccountControl:1.2.840.113556.1.4.803:=8192)(primaryGroupID=521))'
$accounts = [string[]]@(foreach ($computer in @(Get-GatewayObject -Class 'computer' -Filter $filter -Base $base -Server $Server)) {
    if ([string]$computer.DNSHostName -ne '') { [string]$computer.DNSHostName }
})
Test-GatewayFact -Fact 'Get-ADDomainController -Filter, against the accounts' -Action {
    $listed = [string[]]@(foreach ($controller in @(Get-ADDomainController -Filter '*' -Server $Server)) { [string]$controller.HostName })
    Compare-GatewayNames -Found $listed -Wanted $accounts
}
