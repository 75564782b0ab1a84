# Returns the reasons why only callers with the scope 'privileged' may change users, groups, computers and
# OUs. Objects that are not found are omitted, but at least one object must exist.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $ObjectGuid,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Readable,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find object' -Arg 'ObjectGuid'
$domain = Get-GatewayDomain -Server $Server
$terms = @(foreach ($guid in $ObjectGuid) { '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$guid)) + ')' }) -join ''
$search = @{ Filter = '(|' + $terms + ')'; Property = $GatewayGuardProperties + @('userAccountControl'); Base = $domain.dn; Server = $Server }
$seen = [System.Collections.Generic.List[object]]::new()
foreach ($type in @($Readable)) {
    $class = $type
    if ($type -eq 'ou') { $class = 'container' }
    $found = @(Get-GatewayObject -Class $class @search)
    if ($found.Length -eq 0) { continue }
    $groups = $null
    if ($type -eq 'group') { $groups = $AllowedGroup }
    $allowed = @(Get-GatewayAllowedGroup -Group $found -AllowedGroup $groups -AllowedOU $AllowedOU -Server $Server)
    if ($allowed.Length -lt $found.Length) { $script:GatewayOutside = $true }
    foreach ($object in $allowed) { $seen.Add(@{ object = $object; type = $type }) }
}
if ($seen.Count -eq 0) {
    $message = "There is no user, group, computer or OU with the GUID '$($ObjectGuid[0])'" + (Get-GatewayScopeText -AllowedOU $AllowedOU) + '.'
    Stop-Gateway -Code 'not_found' -Arg 'ObjectGuid' -Message $message
}

Set-GatewayStep -Label 'check privilege' -Arg 'ObjectGuid'
foreach ($one in $seen) {
    $dn = [string]$one.object.DistinguishedName
    $why = [string](Get-GatewayGuardReason -Object $one.object -GuardedGroup $GuardedGroup -Server $Server)
    $moved = $why
    $filled = ''
    if ($one.type -eq 'ou') {
        if ($moved -eq '') { $moved = [string](Get-GatewayTreeReason -Dn $dn -GuardedGroup $GuardedGroup -Server $Server) }
        if (Test-GatewayWithin -Dn $dn -Base @($domain.controllers)) { $filled = $GatewayGuards.place.why }
    }
    [ordered]@{
        guid              = [string]$one.object.ObjectGUID
        distinguishedName = $dn
        guarded           = [bool]($why -ne '')
        why               = $why
        whyMoved          = $moved
        whyFilled         = [string]$filled
    }
}
