# Finds the domain controllers: the one Windows would choose first, then the others.
[CmdletBinding()]
param([bool] $Force = $false)

Set-GatewayStep -Label 'discover domain controller'
$discovered = Get-ADDomainController -Discover -Writable -Service 'ADWS' -NextClosestSite -ForceDiscover:$Force
$first = [string]@($discovered.HostName)[0]
[ordered]@{ hostName = $first; site = [string]$discovered.Site; writable = $true }

Set-GatewayStep -Label 'list domain controllers'
foreach ($controller in @(Get-ADDomainController -Filter '*' -Server $first)) {
    $name = [string]@($controller.HostName)[0]
    if (-not [string]::Equals($name, $first, [System.StringComparison]::OrdinalIgnoreCase)) {
        [ordered]@{ hostName = $name; site = [string]$controller.Site; writable = [bool](-not [bool]$controller.IsReadOnly) }
    }
}
