# Removes a computer with its connection points and print queues; any other child blocks the removal.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$computer = Find-GatewayComputer -Identity $Identity -Property $GatewayComputerImaged -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
$record = ConvertTo-GatewayComputer -Computer @($computer)
$children = Get-GatewayComputerChild -Dn ([string]$computer.DistinguishedName) -Guid ([string]$computer.ObjectGUID) -Server $Server

# Guard.
$bar = Get-GatewayComputerBar -Computer $computer -Children $children
if ($bar.code -ne '') { Stop-Gateway -Code $bar.code -Arg 'Identity' -Message $bar.message }
Assert-GatewayPrivilege -Object $computer -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'Identity'
$restorable = Get-GatewayRestorable -Server $Server
$image = Get-GatewayImage -Class 'computer' -Object $computer -Record $record -Restorable $restorable -Server $Server

# Announce.
New-GatewayRemovalIntent -Computer $computer -Record $record -Image $image -Going $children.going
Write-GatewayIntent -Effect 'removed'

# Act.
Set-GatewayStep -Label 'remove computer' -Arg 'Identity'
Remove-GatewayComputerObject -Computer $computer -Record $record -Going $children.going -Server $Server
Complete-GatewayChange -Effect 'removed'

# Report.
$record
