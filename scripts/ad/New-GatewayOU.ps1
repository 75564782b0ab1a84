# Creates an OU, protected from accidental deletion by default.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $OUName,
    [Parameter(Mandatory)] [string] $OUDestinationPath,
    [AllowNull()] [string] $OUDescription,
    [bool] $IsProtected = $true,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve and guard.
$parent = [string](Find-GatewayOUPlace -Dn $OUDestinationPath -AllowedOU $AllowedOU -Privileged $Privileged -Server $Server)
Assert-GatewayNameFree -Name $OUName -Parent $parent -AllowedOU $AllowedOU -Server $Server -Arg 'OUName'

# Announce.
$also = @{}
if ($OUDescription) { $also['description'] = $OUDescription }
New-GatewayIntent -Creates -Name $OUName -Parent $parent -Also $also
Add-GatewayIntent -Name 'protected' -Before 'False' -After ([string]$IsProtected)
Write-GatewayIntent -Effect 'created'

# Act. Protection is a separate step, because the cmdlet would leave an unprotected OU if it failed (facts E36).
Set-GatewayStep -Label 'create OU' -Arg 'OUName'
$create = @{ Name = $OUName; Path = $parent; ProtectedFromAccidentalDeletion = $false; Server = $Server; PassThru = $true; Confirm = $false }
if ($OUDescription) { $create['Description'] = $OUDescription }
$remove = { param($Guid, $Server) Remove-ADOrganizationalUnit -Identity $Guid -Server $Server -Confirm:$false }
try {
    $ou = New-ADOrganizationalUnit @create
} catch {
    # The module reads access lists after the OU has been created (facts E73). The name was free, so the OU with
    # this name is the new one.
    if (-not (Test-GatewayRefusal -Record $_)) { throw }
    $ou = Find-GatewayNewOU -Name $OUName -Parent $parent -Server $Server
    if ($null -eq $ou) { throw }
    $lost = @{ Guid = [string]$ou.ObjectGUID; Server = $Server }
    Complete-GatewayStep -Label 'create OU' -Guid ([string]$ou.ObjectGUID) -Dn ([string]$ou.DistinguishedName) -Undo $remove -Arguments $lost
    $message = "The gateway's service account may not read the access lists of an OU in '$parent' and of '$parent' itself, " +
        'which the protection from accidental deletion is made of.'
    Stop-Gateway -Code 'directory_denied' -Arg 'OUDestinationPath' -Message $message
}
$guid = [string]$ou.ObjectGUID
$dn = [string]$ou.DistinguishedName
Complete-GatewayStep -Label 'create OU' -Guid $guid -Dn $dn -Undo $remove -Arguments @{ Guid = $guid; Server = $Server }
if ($IsProtected) { Set-GatewayProtection -Guid $guid -Protected $true -Label 'protect OU' -Dn $dn -Arg 'IsProtected' -Server $Server }
Complete-GatewayChange -Effect 'created'

# Report.
$created = Find-GatewayContainerByGuid -Guid $guid -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
$record = ConvertTo-GatewayContainer -Container @($created)
Add-GatewayChange -Guid $guid -Dn $dn -Before $null -After $record
Add-GatewayCreated -Guid $guid -Of $created -Image (Get-GatewayImage -Class 'ou' -Object $created -New -Server $Server)
$record
