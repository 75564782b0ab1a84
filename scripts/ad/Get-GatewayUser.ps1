# Reads one user. With OnlyGuid, the user is never found by its common name.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [bool] $OnlyGuid = $false,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find user' -Arg 'UserName'
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$properties = $shown.properties
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write:$OnlyGuid

ConvertTo-GatewayUser -User @($user) -Field $shown -AllowedOU $AllowedOU -Server $Server
