# Returns the account that the session runs as, and reads the domain.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Server)

Set-GatewayStep -Label 'read domain'
$domain = Get-ADDomain -Server $Server
[ordered]@{
    account = [string]([System.Environment]::UserDomainName + '\' + [System.Environment]::UserName)
    domain  = [string]$domain.DNSRoot
}
