# Moves a computer, with everything below it, to another OU or container.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [Parameter(Mandatory)] [string] $OUPath,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
$properties = $GatewayComputerProperties + @('ProtectedFromAccidentalDeletion')
$computer = Find-GatewayComputer -Identity $Identity -Property $properties -Arg 'Identity' -Write @limits
$guid = [string]$computer.ObjectGUID
$dn = [string]$computer.DistinguishedName
$parent = Get-GatewayParentDn -Dn $dn
Set-GatewayStep -Label 'find target' -Arg 'OUPath'
$target = [string](Find-GatewayContainer -Dn $OUPath -Arg 'OUPath' -Code 'unprocessable' @limits).DistinguishedName
$moves = -not $target.Equals($parent, [System.StringComparison]::OrdinalIgnoreCase)

# Guard.
Assert-GatewayPrivilege -Object $computer -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'Identity'
Assert-GatewayPlace -Dn $target -Privileged $Privileged -Server $Server -Arg 'OUPath'
if (Test-GatewayController -Computer $computer) {
    Stop-Gateway -Code 'protected' -Arg 'Identity' -Message "'$dn' is a domain controller, which stays where its policies apply."
}
if ($moves) {
    Assert-GatewayMovable -Object $computer -Target $target -Arg 'OUPath' @limits
}

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $computer
Add-GatewayIntent -Name 'parent' -Before $parent -After $target
Write-GatewayIntent -Effect 'changed'

# Act.
if ($moves) {
    Set-GatewayStep -Label 'move computer' -Arg 'OUPath'
    Move-ADObject -Identity $guid -TargetPath $target -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'move computer' -Guid $guid -Dn $dn
    Complete-GatewayChange -Effect 'changed'
}

# Report.
$read = Find-GatewayAccount -Class 'computer' -Identity $guid -Property $GatewayComputerProperties -Arg 'Identity' -Write @limits
if ($moves) { Add-GatewayChange -Guid $guid -Dn ([string]$read.DistinguishedName) -Before @{ path = [string]$parent } -After @{ path = [string]$target } }
ConvertTo-GatewayComputer -Computer @($read)
