# Sets or lifts the protection of a user, a group or a computer from accidental deletion.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [ValidateSet('user', 'group', 'computer')] [string] $Class,
    [Parameter(Mandatory)] [string] $Identity,
    [Parameter(Mandatory)] [bool] $IsProtected,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
Set-GatewayStep -Label 'find object' -Arg 'Identity'
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
$properties = $GatewayComputerProperties
if ($Class -eq 'group') {
    $properties = $GatewayGroupProperties
    $limits['AllowedGroup'] = $AllowedGroup
}
if ($Class -eq 'user') {
    $shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
    $properties = $GatewayGuardProperties + $shown.properties
}
$properties += @('ProtectedFromAccidentalDeletion')
$object = Find-GatewayAccount -Class $Class -Identity $Identity -Property $properties -Arg 'Identity' -Write @limits
$guid = [string]$object.ObjectGUID
$dn = [string]$object.DistinguishedName

# Guard.
Assert-GatewayPrivilege -Object $object -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'Identity'
$now = [bool]$object.ProtectedFromAccidentalDeletion

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $object
Add-GatewayIntent -Name 'protected' -Before ([string]$now) -After ([string]$IsProtected)
Write-GatewayIntent -Effect 'changed'

# Act.
if ($now -ne $IsProtected) {
    Set-GatewayProtection -Guid $guid -Protected $IsProtected -Label 'set protection' -Dn $dn -Arg 'IsProtected' -Server $Server
    Complete-GatewayChange -Effect 'changed'
    Add-GatewayChange -Guid $guid -Dn $dn -Before @{ protected = $now } -After @{ protected = $IsProtected }
}

# Report.
$read = Find-GatewayAccount -Class $Class -Identity $guid -Property $properties -Arg 'Identity' -Write @limits
switch ($Class) {
    'user' { ConvertTo-GatewayUser -User @($read) -Field $shown -AllowedOU $AllowedOU -Server $Server }
    'group' { ConvertTo-GatewayGroup -Group @($read) -AllowedOU $AllowedOU -Server $Server }
    'computer' { ConvertTo-GatewayComputer -Computer @($read) }
}
