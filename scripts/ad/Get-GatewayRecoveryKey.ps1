# Reads a BitLocker key of a computer. The key is sent as a secret, because no parameter of a command may contain it
# in clear text.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [Parameter(Mandatory)] [string] $KeyId,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

$properties = $GatewayGuardProperties + @('userAccountControl')
$computer = Find-GatewayComputer -Identity $Identity -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
$dn = [string]$computer.DistinguishedName
Assert-GatewayRevealing -Computer $computer -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'Identity'

Set-GatewayStep -Label 'read recovery key' -Arg 'KeyId'
$filter = '(&(objectClass=msFVE-RecoveryInformation)(msFVE-RecoveryGuid=' + (Get-GatewayKeyIdEscaped -KeyId $KeyId) + '))'
$search = @{ Property = @('whenCreated', 'msFVE-RecoveryPassword'); Base = $dn; Scope = 'OneLevel'; Server = $Server }
$found = @(Get-GatewayObject -Class 'any' -Filter $filter @search)
if ($found.Length -eq 0) {
    Stop-Gateway -Code 'not_found' -Arg 'KeyId' -Message "The directory has no BitLocker key '$KeyId' of '$dn'."
}
if ($found.Length -gt 1) {
    Stop-Gateway -Code 'ambiguous' -Arg 'KeyId' -Message "Several BitLocker keys of '$dn' begin with '$KeyId': give the whole id."
}
$sealed = Add-GatewayStoredSecret -Object $found[0] -Name 'msFVE-RecoveryPassword'
if ($sealed -eq '') { Stop-GatewayUnreadable -Attribute 'msFVE-RecoveryPassword' -Arg 'KeyId' }
$record = ConvertTo-GatewayRecoveryKey -Key $found[0] -Computer $computer
$record['recoveryPassword'] = [string]$sealed
$record
