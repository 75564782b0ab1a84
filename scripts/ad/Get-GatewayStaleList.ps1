# Lists the accounts of some classes that were last seen before a time, each with the reason and the date. The time
# is given as a file time and as a generalized time. For an account that has never logged on, the time of its
# creation counts. Accounts are excluded by OU, by group (including nested groups), and by name.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $Class,
    [Parameter(Mandatory)] [string[]] $Since,
    [AllowNull()] [string] $OUPath,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $ExcludeOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $ExcludeGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $ExcludeName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [Parameter(Mandatory)] [string] $Server
)

$base = (Get-GatewayDomain -Server $Server).dn
if ($OUPath) { $base = Find-GatewaySearchBase -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath' }
$outside = @(foreach ($dn in $ExcludeOU) {
        if ($dn) { [string](Find-GatewaySearchBase -Dn $dn -AllowedOU $AllowedOU -Server $Server -Arg 'ExcludeOU') }
    })
$classes = [System.Collections.Generic.List[string]]::new()
if ($Class -contains 'computer') { $classes.Add('(objectCategory=computer)') }
if ($Class -contains 'user') { $classes.Add('(&(objectCategory=person)(objectClass=user))') }
if ($Class -contains 'serviceAccount') {
    $classes.Add('(objectClass=msDS-GroupManagedServiceAccount)(objectClass=msDS-ManagedServiceAccount)')
}
$terms = [System.Collections.Generic.List[string]]::new()
$terms.Add('(|' + ($classes -join '') + ')(!(isCriticalSystemObject=TRUE))')
$last = Get-GatewayLdapEscaped -Value $Since[0]
$made = Get-GatewayLdapEscaped -Value $Since[1]
$terms.Add('(|(&(lastLogonTimestamp>=1)(lastLogonTimestamp<=' + $last + '))(&(!(lastLogonTimestamp>=1))(whenCreated<=' + $made + ')))')
foreach ($identity in $ExcludeGroup) {
    if (-not $identity) { continue }
    $ask = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server; Arg = 'ExcludeGroup' }
    $group = Find-GatewayAccount -Class 'group' -Identity $identity @ask
    $number = ([string]$group.SID) -replace '^.*-', ''
    $terms.Add('(!(memberOf:1.2.840.113556.1.4.1941:=' + (Get-GatewayLdapEscaped -Value ([string]$group.DistinguishedName)) + '))')
    $terms.Add('(!(primaryGroupID=' + (Get-GatewayLdapEscaped -Value $number) + '))')
}
foreach ($pattern in $ExcludeName) {
    if (-not $pattern) { continue }
    $pieces = [System.Collections.Generic.List[string]]::new()
    foreach ($piece in $pattern.Split([char]'*')) { $pieces.Add((Get-GatewayLdapEscaped -Value $piece)) }
    $terms.Add('(!(name=' + ($pieces -join '*') + '))')
}

Set-GatewayStep -Label 'list accounts'
$property = @('sAMAccountName', 'userAccountControl', 'lastLogonTimestamp', 'whenCreated')
$found = @(Get-GatewayObject -Class 'any' -Filter ('(&' + ($terms -join '') + ')') -Property $property -Base $base -Server $Server)
foreach ($item in (Get-GatewaySorted -Items $found -AllowedOU $AllowedOU -Server $Server)) {
    $dn = [string]$item.DistinguishedName
    if ($outside.Length -gt 0 -and (Test-GatewayWithin -Dn $dn -Base $outside)) { continue }
    $seenAt = Get-GatewayFileTime -Value $item.lastLogonTimestamp
    $created = ''
    if ($null -ne $item.whenCreated) { $created = ([datetime]$item.whenCreated).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
    $reason = 'unused'
    $at = $seenAt
    if ($seenAt -eq '') {
        $reason = 'neverUsed'
        $at = $created
    }
    [ordered]@{
        guid              = [string]$item.ObjectGUID
        class             = [string]$item.ObjectClass
        name              = [string]$item.Name
        samName           = [string]$item.sAMAccountName
        distinguishedName = [string]$dn
        enabled           = [bool](([long]$item.userAccountControl -band 2) -eq 0)
        reason            = [string]$reason
        since             = [string]$at
        created           = [string]$created
    }
}
