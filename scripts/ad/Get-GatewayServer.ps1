# Finds the domain controllers: first the one that Windows would choose, then the others. The others are read from
# their computer accounts, so that an object that only looks like a domain controller does not hide any of them
# (facts G13).
[CmdletBinding()]
param([bool] $Force = $false)

Set-GatewayStep -Label 'discover domain controller'
$discovered = Get-ADDomainController -Discover -Writable -Service 'ADWS' -NextClosestSite -ForceDiscover:$Force
$first = [string]@($discovered.HostName)[0]
[ordered]@{ hostName = $first; site = [string]$discovered.Site; writable = $true }

# The first controller is used even if the others cannot be listed.
Set-GatewayStep -Label 'list domain controllers'
$controllers = @()
try {
    $base = [string](Get-GatewayDomain -Server $first).dn
    $filter = '(|(userAccountControl:1.2.840.113556.1.4.803:=8192)(primaryGroupID=521))'
    $controllers = @(Get-GatewayObject -Class 'computer' -Filter $filter -Property @('primaryGroupID') -Base $base -Server $first)
} catch {
    $message = "The other domain controllers could not be listed: $([string]$_.Exception.Message)"
    Add-GatewayWarning -Code 'not_listed' -Target $first -Message $message
}
foreach ($controller in $controllers) {
    $dn = [string]$controller.DistinguishedName
    $name = [string]$controller.DNSHostName
    if ([string]::Equals($name, $first, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
    if ($name -eq '') {
        Add-GatewayWarning -Code 'no_host_name' -Target $dn -Message "The domain controller '$dn' has no dNSHostName and is not used."
    } elseif ([string]$controller.Enabled -eq 'False') {
        Add-GatewayWarning -Code 'disabled' -Target $dn -Message "The account of the domain controller '$dn' is disabled; it is not used."
    } else {
        [ordered]@{ hostName = $name; site = ''; writable = [bool]([string]$controller.primaryGroupID -ne '521') }
    }
}
