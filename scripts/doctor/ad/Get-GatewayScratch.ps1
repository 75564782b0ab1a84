# Returns the state of the scratch OU: whether it exists, whether the doctor created it, and which objects
# in it are not the doctor's.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Base,
    [Parameter(Mandatory)] [string] $Prefix,
    [Parameter(Mandatory)] [string] $Mark,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find scratch OU' -Arg 'Base'
$ou = Find-GatewayContainer -Dn $Base -Property @('description') -Server $Server -Arg 'Base' -Code 'not_found' -Quiet
if ($null -eq $ou) {
    $parent = Find-GatewayContainer -Dn (Get-GatewayParentDn -Dn $Base) -Server $Server -Arg 'Base' -Code 'not_found' -Quiet
    return [ordered]@{ exists = $false; parent = [bool]($null -ne $parent); ou = $false; made = $false; mine = 0; foreign = @() }
}
$dn = [string]$ou.DistinguishedName
$mine = 0
$foreign = [System.Collections.Generic.List[string]]::new()
foreach ($object in @(Get-ADObject -LDAPFilter '(objectClass=*)' -SearchBase $dn -SearchScope Subtree -ResultSetSize 1000 -Server $Server)) {
    $name = [string]$object.DistinguishedName
    if ([string]::Equals($name, $dn, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
    if (([string]$object.Name).StartsWith($Prefix, [System.StringComparison]::OrdinalIgnoreCase)) { $mine++ } else { $foreign.Add($name) }
}
[ordered]@{
    exists  = $true
    parent  = $true
    ou      = [bool]([string]$ou.ObjectClass -eq 'organizationalUnit')
    made    = [bool][string]::Equals([string]@($ou.description)[0], $Mark, [System.StringComparison]::Ordinal)
    mine    = [int]$mine
    foreign = [string[]]$foreign.ToArray()
}
