# Removes a user and returns its last record.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Kept,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$properties = (Get-GatewayUserProperty -Field ($Field + @($Kept))) + $GatewayGuardProperties + $GatewayUserImaged
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
$guid = [string]$user.ObjectGUID
$dn = [string]$user.DistinguishedName

# Guard.
Assert-GatewayPrivilege -Object $user -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'UserName'
if ([string]$user.isCriticalSystemObject -eq 'True') {
    Stop-Gateway -Code 'protected' -Arg 'UserName' -Message "The user '$dn' is a critical system object and cannot be removed."
}
if ([bool]$user.ProtectedFromAccidentalDeletion) {
    Stop-Gateway -Code 'protected' -Arg 'UserName' -Message "The user '$dn' is protected from accidental deletion. Lift the protection $GatewayElsewhere first."
}
if (Test-GatewayChild -Dn $dn -Server $Server) {
    Stop-Gateway -Code 'not_empty' -Arg 'UserName' -Message "The user '$dn' has objects below it. Remove those first."
}
$record = ConvertTo-GatewayUser -User @($user) -Field $Field -AllowedOU $AllowedOU -Server $Server
$restorable = Get-GatewayRestorable -Server $Server
$image = Get-GatewayImage -Class 'user' -Object $user -Attribute $Kept -Restorable $restorable -Server $Server

# Announce.
New-GatewayIntent -Removes -Guid $guid -Dn $dn -Account ([string]$user.SamAccountName) -Record $record -Image $image -Of $user
Write-GatewayIntent -Effect 'removed'

# Act.
Set-GatewayStep -Label 'remove user' -Arg 'UserName'
Remove-ADUser -Identity $guid -Server $Server -Confirm:$false
Complete-GatewayStep -Label 'remove user' -Guid $guid -Dn $dn
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayChange -Guid $guid -Dn $dn -Before $record -After $null
$record
