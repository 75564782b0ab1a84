# Returns the reason why only callers with the scope 'privileged' may change a user, a group or a computer.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ObjectGuid,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Readable,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find object' -Arg 'ObjectGuid'
$filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$ObjectGuid)) + ')'
$search = @{ Filter = $filter; Property = $GatewayGuardProperties + @('userAccountControl'); Base = (Get-GatewayDomain -Server $Server).dn; Server = $Server }
$object = $null
foreach ($type in @($Readable)) {
    $found = @(Get-GatewayObject -Class $type @search)
    if ($found.Length -eq 0) { continue }
    $groups = $null
    if ($type -eq 'group') { $groups = $AllowedGroup }
    $seen = @(Get-GatewayAllowedGroup -Group $found -AllowedGroup $groups -AllowedOU $AllowedOU -Server $Server)
    if ($seen.Length -eq 0) { $script:GatewayOutside = $true } else { $object = $seen[0] }
}
if ($null -eq $object) {
    $message = "There is no user, group or computer with the GUID '$ObjectGuid'" + (Get-GatewayScopeText -AllowedOU $AllowedOU) + '.'
    Stop-Gateway -Code 'not_found' -Arg 'ObjectGuid' -Message $message
}

Set-GatewayStep -Label 'check privilege' -Arg 'ObjectGuid'
$why = [string](Get-GatewayGuardReason -Object $object -GuardedGroup $GuardedGroup -Server $Server)
[ordered]@{
    guid              = [string]$object.ObjectGUID
    distinguishedName = [string]$object.DistinguishedName
    guarded           = [bool]($why -ne '')
    why               = $why
}
