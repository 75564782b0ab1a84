# Reads the photo of a user. The gateway decodes it.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find user' -Arg 'UserName'
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property @('thumbnailPhoto') -AllowedOU $AllowedOU -Server $Server -Arg 'UserName'
$packed = [string](@(Get-GatewayAttributeValue -Object $user -Name 'thumbnailPhoto' -Form 'bytes') -join '')
if ($packed -ne '') { $packed = [string]$user.ObjectGUID + ' ' + $packed }
[ordered]@{
    guid              = [string]$user.ObjectGUID
    username          = [string]$user.SamAccountName
    distinguishedName = [string]$user.DistinguishedName
    thumbnailPhoto    = [string]$packed
}
