# Changes the description, mail address, display name, manager, scope or place of a group. An absent input leaves
# the stored value unchanged, and an empty input clears it. Everything is checked before the first write. If a step
# fails, the earlier ones are undone.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $GroupName,
    [AllowNull()] [string] $Description,
    [AllowNull()] [string] $Email,
    [AllowNull()] [string] $DisplayName,
    [AllowNull()] [string] $ManagedBy,
    [AllowNull()] [string] $GroupScope,
    [AllowNull()] [string] $OUPath,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$limits = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
$properties = $GatewayGroupProperties + @('displayName', 'ProtectedFromAccidentalDeletion')
$group = Find-GatewayGroup -Identity $GroupName -Property $properties -Arg 'GroupName' -Write @limits
$guid = [string]$group.ObjectGUID
$dn = [string]$group.DistinguishedName
$parent = Get-GatewayParentDn -Dn $dn
$oldScope = [string]$group.GroupScope
Assert-GatewayPrivilege -Object $group -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'GroupName'
$stored = @{
    description = [string]@($group.description)[0]; mail = [string]$group.mail; displayName = [string]$group.displayName; managedBy = [string]$group.managedBy
}
$wanted = [ordered]@{}
if ($PSBoundParameters.ContainsKey('Description')) { $wanted['description'] = $Description }
if ($PSBoundParameters.ContainsKey('Email')) { $wanted['mail'] = $Email }
if ($PSBoundParameters.ContainsKey('DisplayName')) { $wanted['displayName'] = $DisplayName }
if ($PSBoundParameters.ContainsKey('ManagedBy')) {
    $wanted['managedBy'] = ''
    if ($ManagedBy) { $wanted['managedBy'] = [string](Find-GatewayGroupManager -ManagedBy $ManagedBy @limits) }
}
$scope = $oldScope
if ($GroupScope) { $scope = $GroupScope }
$target = $parent
if ($OUPath) {
    Set-GatewayStep -Label 'find target' -Arg 'OUPath'
    $target = [string](Find-GatewayContainer -Dn $OUPath -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath' -Code 'unprocessable').DistinguishedName
}
$rescopes = -not $scope.Equals($oldScope, [System.StringComparison]::OrdinalIgnoreCase)
$moves = -not $target.Equals($parent, [System.StringComparison]::OrdinalIgnoreCase)

# Guard.
if ($rescopes -and [string]$group.SID -match '^S-1-5-32-') {
    Stop-Gateway -Code 'protected' -Arg 'GroupScope' -Message "The group '$dn' is built in and keeps its scope."
}
if ($moves) {
    Assert-GatewayPlace -Dn $target -Privileged $Privileged -Server $Server -Arg 'OUPath'
    # A caller whose limit is the group's distinguished name would lose access to the group.
    $named = @{ Name = [string]$group.SamAccountName; Guid = $guid; Sid = (Get-GatewaySid -Object $group) }
    Assert-GatewayGroupName -AllowedGroup $AllowedGroup -Arg 'OUPath' @named
    Assert-GatewayMovable -Object $group -Target $target -Arg 'OUPath' @limits
}
$texts = [ordered]@{}
foreach ($name in @($wanted.Keys)) {
    if (-not $stored[$name].Equals([string]$wanted[$name], [System.StringComparison]::Ordinal)) { $texts[$name] = [string]$wanted[$name] }
}

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $group
foreach ($name in @($texts.Keys)) { Add-GatewayIntent -Name $name -Before $stored[$name] -After $texts[$name] }
if ($rescopes) {
    Add-GatewayIntent -Name 'scope' -Before (Get-GatewayScopeName -Scope $oldScope) -After (Get-GatewayScopeName -Scope $scope)
}
if ($moves) { Add-GatewayIntent -Name 'parent' -Before $parent -After $target }
Write-GatewayIntent -Effect 'changed'

# Act.
$steps = 0
$before = [ordered]@{}
$after = [ordered]@{}
if ($texts.Count -gt 0) {
    $old = @{}
    foreach ($name in @($texts.Keys)) { $old[$name] = $stored[$name] }
    Set-GatewayStep -Label 'set attributes' -Arg 'GroupName'
    Set-GatewayGroupText -Guid $guid -Text $texts -Server $Server
    $back = { param($Guid, $Text, $Server) Set-GatewayGroupText -Guid $Guid -Text $Text -Server $Server }
    Complete-GatewayStep -Label 'set attributes' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Text = $old; Server = $Server }
    foreach ($name in @($texts.Keys)) {
        $before[$name] = [string]$stored[$name]
        $after[$name] = [string]$texts[$name]
    }
    $steps++
}
if ($rescopes) {
    # A change between global and domain local must go through universal (facts E31).
    $way = @($scope)
    if ($scope -ne 'Universal' -and $oldScope -ne 'Universal') { $way = @('Universal', $scope) }
    $was = $oldScope
    foreach ($next in $way) {
        Set-GatewayStep -Label 'set scope' -Arg 'GroupScope'
        Set-ADGroup -Identity $guid -GroupScope $next -Server $Server -Confirm:$false
        $back = { param($Guid, $Scope, $Server) Set-ADGroup -Identity $Guid -GroupScope $Scope -Server $Server -Confirm:$false }
        Complete-GatewayStep -Label 'set scope' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Scope = $was; Server = $Server }
        $was = $next
    }
    $before['scope'] = [string](Get-GatewayScopeName -Scope $oldScope)
    $after['scope'] = [string](Get-GatewayScopeName -Scope $scope)
    $steps++
}
if ($moves) {
    Set-GatewayStep -Label 'move group' -Arg 'OUPath'
    Move-ADObject -Identity $guid -TargetPath $target -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'move group' -Guid $guid -Dn $dn
    $before['ouPath'] = [string]$parent
    $after['ouPath'] = [string]$target
    $steps++
}
if ($steps -gt 0) { Complete-GatewayChange -Effect 'changed' }

# Report.
$read = Find-GatewayAccount -Class 'group' -Identity $guid -Property $GatewayGroupProperties -Arg 'GroupName' -Write @limits
if ($steps -gt 0) { Add-GatewayChange -Guid $guid -Dn ([string]$read.DistinguishedName) -Before $before -After $after }
ConvertTo-GatewayGroup -Group @($read) -AllowedOU $AllowedOU -Server $Server
