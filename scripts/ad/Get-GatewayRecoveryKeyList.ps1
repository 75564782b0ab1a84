# Lists BitLocker keys without the keys themselves: the keys of a computer (Identity), or those whose id begins with
# KeyId.
[CmdletBinding()]
param(
    [AllowNull()] [string] $Identity,
    [AllowNull()] [string] $KeyId,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$search = @{ Class = 'any'; Property = @('whenCreated'); Server = $Server }
$isKey = '(objectClass=msFVE-RecoveryInformation)'
if ($Identity) {
    $computer = Find-GatewayComputer -Identity $Identity -AllowedOU $AllowedOU -Server $Server -Arg 'Identity'
    Set-GatewayStep -Label 'list recovery keys' -Arg 'Identity'
    foreach ($key in @(Get-GatewayObject -Filter $isKey -Base ([string]$computer.DistinguishedName) -Scope 'OneLevel' @search)) {
        ConvertTo-GatewayRecoveryKey -Key $key -Computer $computer
    }
    return
}
Set-GatewayStep -Label 'find recovery keys' -Arg 'KeyId'
$root = (Get-GatewayDomain -Server $Server).dn
$filter = '(&(objectClass=msFVE-RecoveryInformation)(msFVE-RecoveryGuid=' + (Get-GatewayKeyIdEscaped -KeyId $KeyId) + '))'
foreach ($key in @(Get-GatewayObject -Filter $filter -Base $root @search)) {
    $dn = Get-GatewayParentDn -Dn ([string]$key.DistinguishedName)
    if (-not (Test-GatewayAllowed -Dn $dn -AllowedOU $AllowedOU -Server $Server)) {
        $script:GatewayOutside = $true
        continue
    }
    $above = '(distinguishedName=' + (Get-GatewayLdapEscaped -Value $dn) + ')'
    foreach ($computer in @(Get-GatewayObject -Class 'computer' -Filter $above -Base $root -Server $Server)) {
        ConvertTo-GatewayRecoveryKey -Key $key -Computer $computer
    }
}
