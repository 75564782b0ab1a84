# Lists the deleted users, groups, computers and OUs, the last deleted first.
[CmdletBinding()]
param(
    [AllowNull()] [string] $Type,
    [AllowNull()] [string] $Name,
    [AllowNull()] [string] $Account,
    [AllowNull()] [string] $LastOUPath,
    [AllowNull()] [string] $DeletedSince,
    [Parameter(Mandatory)] [int] $Limit,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read optional feature'
if (-not (Test-GatewayBin -Server $Server)) {
    Add-GatewayWarning -Code 'bin_off' -Target '' -Message 'The Recycle Bin is not enabled: what is deleted cannot be restored.'
    return
}
$filter = '(|(objectClass=user)(objectClass=group)(objectClass=organizationalUnit))'
if ($Name) { $filter += '(msDS-LastKnownRDN=' + (Get-GatewayLdapEscaped -Value $Name) + ')' }
if ($Account) {
    $escaped = Get-GatewayLdapEscaped -Value $Account
    $filter += '(|(sAMAccountName=' + $escaped + ')(sAMAccountName=' + $escaped + '$))'
}
if ($DeletedSince) {
    $since = ($DeletedSince -replace '(\.[0-9]+)?Z$', '' -replace '[^0-9]', '') + '.0Z'
    $filter += '(whenChanged>=' + (Get-GatewayLdapEscaped -Value $since) + ')'
}
Set-GatewayStep -Label 'list deleted objects'
$known = @{}
$all = @(Get-GatewayDeleted -Filter $filter -Server $Server)
$keys = [System.Collections.Generic.List[string]]::new()
$items = [System.Collections.Generic.List[object]]::new()
foreach ($item in @(Select-GatewayDeleted -Found $all -Known $known -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server)) {
    $kind = [string]$GatewayDeletedTypes[[string]$item.ObjectClass]
    if ($kind -eq '' -or ($Type -and -not $kind.Equals($Type, [System.StringComparison]::OrdinalIgnoreCase))) { continue }
    if ($LastOUPath) {
        $former = Get-GatewayFormerDn -Dn ([string]$item.lastKnownParent) -Known $known -Server $Server
        if (-not $former.Equals($LastOUPath, [System.StringComparison]::OrdinalIgnoreCase)) { continue }
    }
    $at = ([datetime]$item.whenChanged).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant)
    $keys.Add($at + [string]$item.ObjectGUID)
    $items.Add($item)
}
$sorted = $items.ToArray()
[System.Array]::Sort([System.Array]$keys.ToArray(), [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
$last = [System.Collections.Generic.List[object]]::new()
for ($i = $sorted.Length - 1; $i -ge 0 -and $last.Count -lt $Limit; $i--) { $last.Add($sorted[$i]) }
if ($last.Count -lt $sorted.Length) {
    $message = "$($sorted.Length) deleted objects match; these are the latest $Limit."
    Add-GatewayWarning -Code 'truncated' -Target '' -Message $message
}
if ($last.Count -eq 0) { return }
Set-GatewayStep -Label 'read deleted objects'
ConvertTo-GatewayDeleted -Object $last.ToArray() -Enabled $true -Known $known -Server $Server
