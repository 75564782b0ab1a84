# Removes a computer with its connection points and print queues. With Recursive, it also removes all other
# objects below it. With Force, it first lifts protections.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [bool] $Force = $false,
    [bool] $Recursive = $false,
    [Parameter(Mandatory)] [int] $BulkLimit,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$computer = Find-GatewayComputer -Identity $Identity -Property $GatewayComputerImaged -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
$dn = [string]$computer.DistinguishedName
$record = ConvertTo-GatewayComputer -Computer @($computer)
$children = Get-GatewayComputerChild -Dn $dn -Guid ([string]$computer.ObjectGUID) -Server $Server

# Guard.
$bar = Get-GatewayComputerBar -Computer $computer -Children $children -Force $Force -Recursive $Recursive
if ($bar.code -ne '') { Stop-Gateway -Code $bar.code -Arg 'Identity' -Message $bar.message }
$guards = @{ Privileged = $Privileged; GuardedGroup = $GuardedGroup; Server = $Server; Arg = 'Identity' }
Assert-GatewayPrivilege -Object $computer @guards
$below = @($children.going) + @($children.guarded)
if ($Recursive -and $children.blocking.Length -gt 0) {
    Assert-GatewayTree -Dn $dn @guards
    $limits = @{ BulkLimit = $BulkLimit; AllowedOU = $AllowedOU; AllowedGroup = $AllowedGroup; Server = $Server; Arg = 'Identity' }
    $below = @(Get-GatewayBelow -Object $computer -What "the computer '$dn'" -Noun 'computer' -Force $Force @limits)
}
$restorable = Get-GatewayRestorable -Server $Server
$image = Get-GatewayImage -Class 'computer' -Object $computer -Record $record -Restorable $restorable -Server $Server

# Announce.
New-GatewayRemovalIntent -Computer $computer -Record $record -Image $image -Going $below
Write-GatewayIntent -Effect 'removed'

# Act.
Remove-GatewayTree -Object $computer -Below $below -Class 'computer' -Force $Force -Label 'remove computer' -Server $Server -Arg 'Identity'
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayRemoval -Object $computer -Record $record -Below $below
$record
