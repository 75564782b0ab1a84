# Returns whether a group exists.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $GroupName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$group = Find-GatewayGroup -Identity $GroupName -Arg 'GroupName' -Quiet @limits
if ($null -eq $group) {
    [ordered]@{ exists = $false; guid = ''; distinguishedName = '' }
    return
}
[ordered]@{ exists = $true; guid = [string]$group.ObjectGUID; distinguishedName = [string]$group.DistinguishedName }
