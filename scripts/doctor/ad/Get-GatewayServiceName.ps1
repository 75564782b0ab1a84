# Returns the accounts that have service principal names.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $Name,
    [Parameter(Mandatory)] [string] $Server
)

$domain = Get-GatewayDomain -Server $Server
foreach ($spn in $Name) {
    Set-GatewayStep -Label 'find a name of a service' -Arg $spn
    $filter = '(servicePrincipalName=' + (Get-GatewayLdapEscaped -Value $spn) + ')'
    $search = @{ SearchBase = [string]$domain.dn; SearchScope = 'Subtree'; ResultSetSize = 10; Server = $Server }
    foreach ($object in @(Get-ADObject -LDAPFilter $filter -Properties @('sAMAccountName', 'objectSid') @search)) {
        [ordered]@{ name = [string]$spn; account = [string]$object.sAMAccountName; sid = [string]$object.objectSid }
    }
}
