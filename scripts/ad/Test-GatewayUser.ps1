# Returns whether a user exists.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find user' -Arg 'UserName'
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Quiet
if ($null -eq $user) {
    [ordered]@{ exists = $false; guid = ''; distinguishedName = '' }
    return
}
[ordered]@{ exists = $true; guid = [string]$user.ObjectGUID; distinguishedName = [string]$user.DistinguishedName }
