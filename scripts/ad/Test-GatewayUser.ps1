# Returns whether a user exists.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find user' -Arg 'UserName'
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Server $Server -Arg 'UserName' -Quiet
if ($null -eq $user) {
    [ordered]@{ exists = $false; guid = ''; distinguishedName = '' }
    return
}
Assert-GatewayAllowed -Dn ([string]$user.DistinguishedName) -AllowedOU $AllowedOU -Server $Server -Arg 'UserName'
[ordered]@{ exists = $true; guid = [string]$user.ObjectGUID; distinguishedName = [string]$user.DistinguishedName }
