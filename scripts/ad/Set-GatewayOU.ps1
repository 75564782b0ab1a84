# Changes the description or the protection of an OU. An empty description clears it.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $OUPath,
    [AllowNull()] [string] $OUDescription,
    [bool] $IsProtected,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve and guard.
$ou = Find-GatewayOU -Dn $OUPath -AllowedOU $AllowedOU -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'OUPath'
$guid = [string]$ou.ObjectGUID
$dn = [string]$ou.DistinguishedName
$oldText = [string]@($ou.description)[0]
if ($PSBoundParameters.ContainsKey('IsProtected') -and [bool]$ou.ProtectedFromAccidentalDeletion -ne $IsProtected) {
    Assert-GatewayNoLimit -Dn $dn -AllowedOU $AllowedOU -Server $Server -Arg 'IsProtected'
}
$before = ConvertTo-GatewayContainer -Container @($ou)

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $ou
if ($PSBoundParameters.ContainsKey('OUDescription')) {
    Add-GatewayIntent -Name 'description' -Before $oldText -After ([string]$OUDescription)
}
if ($PSBoundParameters.ContainsKey('IsProtected')) {
    Add-GatewayIntent -Name 'protected' -Before ([string][bool]$ou.ProtectedFromAccidentalDeletion) -After ([string]$IsProtected)
}
Write-GatewayIntent -Effect 'changed'

# Act.
$changed = $false
if ($PSBoundParameters.ContainsKey('OUDescription') -and -not $oldText.Equals($OUDescription, [System.StringComparison]::Ordinal)) {
    Set-GatewayStep -Label 'set description' -Arg 'OUDescription'
    Set-GatewayText -Guid $guid -Attribute 'description' -Text $OUDescription -Server $Server
    $back = { param($Guid, $Text, $Server) Set-GatewayText -Guid $Guid -Attribute 'description' -Text $Text -Server $Server }
    Complete-GatewayStep -Label 'set description' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Text = $oldText; Server = $Server }
    $changed = $true
}
if ($PSBoundParameters.ContainsKey('IsProtected') -and [bool]$ou.ProtectedFromAccidentalDeletion -ne $IsProtected) {
    Set-GatewayProtection -Guid $guid -Protected $IsProtected -Label 'set protection' -Dn $dn -Arg 'IsProtected' -Server $Server
    $changed = $true
}
if ($changed) { Complete-GatewayChange -Effect 'changed' }

# Report.
$record = Get-GatewayOURecord -Guid $guid -AllowedOU $AllowedOU -Server $Server
if ($changed) { Add-GatewayChange -Guid $guid -Dn $dn -Before $before -After $record }
$record
