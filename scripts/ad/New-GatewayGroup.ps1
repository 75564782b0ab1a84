# Creates a group.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $GroupName,
    [Parameter(Mandatory)] [ValidateSet('Security', 'Distribution')] [string] $Category,
    [Parameter(Mandatory)] [ValidateSet('DomainLocal', 'Global', 'Universal')] [string] $GroupScope,
    [AllowNull()] [string] $OUPath,
    [AllowNull()] [string] $GroupDescription,
    [AllowNull()] [string] $GroupEmail,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
Assert-GatewayGroupName -Name $GroupName -AllowedGroup $AllowedGroup -Arg 'GroupName'
$place = Find-GatewayAccountPlace -OUPath $OUPath -Default 'users' -AllowedOU $AllowedOU -Server $Server
$parent = [string]$place.DistinguishedName
if ([string]$place.ObjectClass -eq 'builtinDomain') {
    Stop-Gateway -Code 'unprocessable' -Arg 'OUPath' -Message "'$parent' holds built-in groups only."
}

# Guard.
Assert-GatewayAllowed -Dn $parent -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
Assert-GatewayPlace -Dn $parent -Privileged $Privileged -Server $Server -Arg 'OUPath'
Assert-GatewayNameFree -Account $GroupName -Name $GroupName -Parent $parent -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server -Arg 'GroupName'

# Announce.
$attributes = @{}
if ($GroupDescription) { $attributes['description'] = $GroupDescription }
if ($GroupEmail) { $attributes['mail'] = $GroupEmail }
$also = @{ sAMAccountName = $GroupName; scope = $GroupScope; type = $Category }
foreach ($name in @($attributes.Keys)) { $also[$name] = [string]$attributes[$name] }
New-GatewayIntent -Creates -Account $GroupName -Name $GroupName -Parent $parent -Also $also
Write-GatewayIntent -Effect 'created'

# Act. There is only one call, so a failure leaves nothing behind.
Set-GatewayStep -Label 'create group' -Arg 'GroupName'
$create = @{
    Name = $GroupName; SamAccountName = $GroupName; GroupCategory = $Category; GroupScope = $GroupScope
    Path = $parent; Server = $Server; PassThru = $true; Confirm = $false
}
if ($attributes.Count -gt 0) { $create['OtherAttributes'] = $attributes }
$group = New-ADGroup @create
$guid = [string]$group.ObjectGUID
Complete-GatewayStep -Label 'create group' -Guid $guid -Dn ([string]$group.DistinguishedName)
Complete-GatewayChange -Effect 'created'

# Report.
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$created = Find-GatewayAccount -Class 'group' -Identity $guid -Property $GatewayGroupImaged -Arg 'GroupName' -Write @limits
$record = ConvertTo-GatewayGroup -Group @($created) -AllowedOU $AllowedOU -Server $Server
Add-GatewayChange -Guid $guid -Dn ([string]$created.DistinguishedName) -Before $null -After $record
$image = Get-GatewayImage -Class 'group' -Object $created -Record $record -New -Server $Server
Add-GatewayCreated -Guid $guid -Of $created -Image $image
$record
