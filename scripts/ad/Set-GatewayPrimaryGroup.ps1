# Makes a group of which a user or a computer is a direct member the account's primary group. The account remains a
# member of its earlier primary group.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [ValidateSet('user', 'computer')] [string] $Class,
    [Parameter(Mandatory)] [string] $Identity,
    [Parameter(Mandatory)] [string] $GroupName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
Set-GatewayStep -Label 'find object' -Arg 'Identity'
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
$properties = $GatewayComputerProperties
if ($Class -eq 'user') {
    $shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
    $properties = $GatewayGuardProperties + $shown.properties + @('primaryGroupID')
}
$object = Find-GatewayAccount -Class $Class -Identity $Identity -Property $properties -Arg 'Identity' -Write @limits
$guid = [string]$object.ObjectGUID
$dn = [string]$object.DistinguishedName
$group = Find-GatewayGroup -Identity $GroupName -Property $GatewayGroupProperties -AllowedGroup $AllowedGroup -Arg 'GroupName' -Write @limits
$groupDn = [string]$group.DistinguishedName
$rid = ([string]$group.SID) -replace '^.*-', ''
$old = [string]$object.primaryGroupID

# Guard. Every user is in Domain Users, and every computer in Domain Computers.
$guards = @{ Privileged = $Privileged; GuardedGroup = $GuardedGroup; Server = $Server }
Assert-GatewayPrivilege -Object $object -Arg 'Identity' @guards
$own = '513'
if ($Class -eq 'computer') { $own = '515' }
if ($rid -ne $own) { Assert-GatewayPrivilege -Object $group -Arg 'GroupName' @guards }
Set-GatewayStep -Label 'check group' -Arg 'GroupName'
if ([string]$group.GroupCategory -ne 'Security' -or @('Global', 'Universal') -notcontains [string]$group.GroupScope) {
    Stop-Gateway -Code 'unprocessable' -Arg 'GroupName' -Message "'$groupDn' cannot be a primary group, which is a global or universal security group."
}
$kind = Get-GatewayMembershipKind -Member $object -Group $group -Server $Server
if (-not $kind.direct) {
    $message = "'$dn' is no direct member of '$groupDn'. Add it first: POST /api/ADGroups/{GroupName}/Members."
    Stop-Gateway -Code 'unprocessable' -Arg 'GroupName' -Message $message
}

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $object
Add-GatewayIntent -Name 'primaryGroupID' -Before $old -After $rid
Write-GatewayIntent -Effect 'changed'

# Act.
if (-not $kind.primary) {
    Set-GatewayStep -Label 'set primary group' -Arg 'GroupName'
    Set-ADObject -Identity $guid -Replace @{ primaryGroupID = [int]$rid } -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'set primary group' -Guid $guid -Dn $dn
    Complete-GatewayChange -Effect 'changed'
    Add-GatewayChange -Guid $guid -Dn $dn -Before @{ primaryGroupID = $old } -After @{ primaryGroupID = $rid }
}

# Report.
$read = Find-GatewayAccount -Class $Class -Identity $guid -Property $properties -Arg 'Identity' -Write @limits
switch ($Class) {
    'user' { ConvertTo-GatewayUser -User @($read) -Field $shown -AllowedOU $AllowedOU -Server $Server }
    'computer' { ConvertTo-GatewayComputer -Computer @($read) }
}
