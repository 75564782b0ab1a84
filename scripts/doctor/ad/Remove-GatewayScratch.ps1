# Removes the objects of the probes, and the scratch OU itself if the doctor created it. It continues
# after failures, and returns what remains and why.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Base,
    [Parameter(Mandatory)] [string] $Prefix,
    [bool] $Itself = $false,
    [Parameter(Mandatory)] [string] $Server
)

$scratch = Find-GatewayContainer -Dn $Base -Server $Server -Arg 'Base' -Code 'not_found' -Quiet
if ($null -eq $scratch) { return }
$reasons = @{}

# Protection first: it blocks the removal of every ancestor.
Set-GatewayStep -Label 'lift protection'
$search = @{ LDAPFilter = '(objectClass=*)'; SearchBase = $Base; SearchScope = 'Subtree'; ResultSetSize = 1000; Server = $Server }
foreach ($object in @(Get-ADObject @search -Properties 'ProtectedFromAccidentalDeletion')) {
    $dn = [string]$object.DistinguishedName
    $mine = ([string]$object.Name).StartsWith($Prefix, [System.StringComparison]::OrdinalIgnoreCase)
    if ($mine -and [bool]$object.ProtectedFromAccidentalDeletion) {
        try {
            Set-ADObject -Identity ([string]$object.ObjectGUID) -ProtectedFromAccidentalDeletion $false -Server $Server -Confirm:$false
        } catch {
            $reasons[$dn] = [string]$_.Exception.Message
        }
    }
}
Set-GatewayStep -Label 'remove objects'
foreach ($object in @(Get-ADObject -LDAPFilter '(objectClass=*)' -SearchBase $Base -SearchScope OneLevel -ResultSetSize 1000 -Server $Server)) {
    if (-not ([string]$object.Name).StartsWith($Prefix, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
    $guid = [string]$object.ObjectGUID
    $dn = [string]$object.DistinguishedName
    try {
        Remove-ADObject -Identity $guid -Recursive -Server $Server -Confirm:$false
    } catch {
        $reasons[$dn] = [string]$_.Exception.Message
    }
    if (-not $reasons.ContainsKey($dn)) { continue }
    # An incomplete protection reads as none and cannot be removed, so it is completed first (facts E38).
    try {
        foreach ($ou in @(Get-ADObject -LDAPFilter '(objectClass=organizationalUnit)' -SearchBase $dn -SearchScope Subtree -Server $Server)) {
            Set-ADObject -Identity ([string]$ou.ObjectGUID) -ProtectedFromAccidentalDeletion $true -Server $Server -Confirm:$false
            Set-ADObject -Identity ([string]$ou.ObjectGUID) -ProtectedFromAccidentalDeletion $false -Server $Server -Confirm:$false
        }
        Remove-ADObject -Identity $guid -Recursive -Server $Server -Confirm:$false
    } catch {
        $reasons[$dn] = [string]$_.Exception.Message
    }
}
if ($Itself) {
    Set-GatewayStep -Label 'remove scratch OU'
    try {
        Remove-ADOrganizationalUnit -Identity ([string]$scratch.ObjectGUID) -Server $Server -Confirm:$false
        return
    } catch {
        [ordered]@{ dn = [string]$Base; reason = [string]$_.Exception.Message }
    }
}
Set-GatewayStep -Label 'list what remains'
foreach ($object in @(Get-ADObject -LDAPFilter '(objectClass=*)' -SearchBase $Base -SearchScope Subtree -ResultSetSize 1000 -Server $Server)) {
    $dn = [string]$object.DistinguishedName
    if ([string]::Equals($dn, [string]$scratch.DistinguishedName, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
    [ordered]@{ dn = [string]$dn; reason = [string]$reasons[$dn] }
}
