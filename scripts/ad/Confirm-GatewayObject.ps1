# Returns the state of one object with its record, to settle a write that was cut off. The object is found by its
# GUID, or, if that is unknown, by its account or name in the container where it was to be created.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [ValidateSet('user', 'group', 'computer', 'ou')] [string] $Class,
    [AllowNull()] [string] $Guid,
    [AllowNull()] [string] $Account,
    [AllowNull()] [string] $ObjectName,
    [AllowNull()] [string] $Parent,
    [bool] $UserParameters = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Attribute,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Kept,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'read object'
$kind = $Class
$properties = $GatewayContainerProperties
if ($Class -eq 'ou') { $kind = 'container' }
if ($Class -eq 'group') { $properties = $GatewayGroupProperties + @('displayName') }
if ($Class -eq 'computer') { $properties = $GatewayComputerProperties }
if ($Class -eq 'user') {
    $names = @(foreach ($name in (@($Field) + @($Kept) + @($Attribute))) { if ($name) { $name } }) # none for $null
    $properties = $GatewayUserWritten + (ConvertFrom-GatewayUserField -Field $names -Server $Server).properties
    $properties += @('userAccountControl', 'pwdLastSet', 'accountExpires', 'LockedOut', 'whenCreated')
}
$properties += @('ProtectedFromAccidentalDeletion', 'primaryGroupID')
$search = @{ Base = (Get-GatewayDomain -Server $Server).dn; Scope = 'Subtree'; Class = $kind; Property = $properties; Server = $Server }
$filter = '(name=' + (Get-GatewayLdapEscaped -Value ([string]$ObjectName)) + ')'
if ($Account) { $filter = '(sAMAccountName=' + (Get-GatewayLdapEscaped -Value $Account) + ')' }
if ($Guid) {
    $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Guid)) + ')'
} else {
    $search['Base'] = $Parent
    $search['Scope'] = 'OneLevel'
}
$found = $null
foreach ($object in @(Get-GatewayObject -Filter $filter @search)) {
    if ($Class -ne 'ou' -or [string]$object.ObjectClass -eq 'organizationalUnit') { $found = $object }
}

if ($null -eq $found) {
    [ordered]@{ guid = $Guid; dn = ''; age = 0; state = [ordered]@{ exists = 'False' }; record = $null }
    return
}
$state = ConvertTo-GatewayState -Class $Class -Object $found -Attribute (@($Kept) + @($Attribute))
if ($Class -eq 'user' -or $Class -eq 'computer') { $state['primaryGroupID'] = [string]$found.primaryGroupID }
if ($UserParameters) {
    $packed = [string](Get-GatewayUserParameters -Guid ([string]$found.ObjectGUID) -Server $Server)
    $state['userParameters'] = [string][Convert]::ToBase64String([System.Text.Encoding]::Unicode.GetBytes($packed))
}
switch ($Class) {
    'user' {
        $shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
        $record = ConvertTo-GatewayUser -User @($found) -Field $shown -AllowedOU $AllowedOU -Server $Server
    }
    'group' { $record = ConvertTo-GatewayGroup -Group @($found) -AllowedOU $AllowedOU -Server $Server }
    'computer' { $record = ConvertTo-GatewayComputer -Computer @($found) }
    'ou' { $record = ConvertTo-GatewayContainer -Container @($found) }
}
[ordered]@{
    guid   = [string]$found.ObjectGUID
    dn     = [string]$found.DistinguishedName
    age    = [int](Get-GatewayAge -Object $found -Server $Server)
    state  = $state
    record = $record
}
