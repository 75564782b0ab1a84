# Enables or disables a computer account. Nothing is written if the account is already in that state.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [Parameter(Mandatory)] [ValidateSet('Enabled', 'Disabled')] [string] $State,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$computer = Find-GatewayComputer -Identity $Identity -Property $GatewayComputerProperties -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
$guid = [string]$computer.ObjectGUID
$dn = [string]$computer.DistinguishedName
$enable = $State -eq 'Enabled'

# Guard.
Assert-GatewayPrivilege -Object $computer -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'Identity'
Assert-GatewayOrdinaryComputer -Computer $computer -GuardedGroup $GuardedGroup -Server $Server -Verb 'enabled or disabled'

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $computer
Add-GatewayIntent -Name 'enabled' -Before ([string][bool]$computer.Enabled) -After ([string]$enable)
Write-GatewayIntent -Effect 'changed'

# Act.
$changed = [bool]$computer.Enabled -ne $enable
if ($changed) {
    Set-GatewayStep -Label 'set state' -Arg 'Identity'
    if ($enable) {
        Enable-ADAccount -Identity $guid -Server $Server -Confirm:$false
    } else {
        Disable-ADAccount -Identity $guid -Server $Server -Confirm:$false
    }
    Complete-GatewayStep -Label 'set state' -Guid $guid -Dn $dn
    Complete-GatewayChange -Effect 'changed'
}

# Report.
$read = Find-GatewayAccount -Class 'computer' -Identity $guid -Property $GatewayComputerProperties -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
if ($changed) { Add-GatewayChange -Guid $guid -Dn $dn -Before @{ enabled = [bool]$computer.Enabled } -After @{ enabled = [bool]$read.Enabled } }
ConvertTo-GatewayComputer -Computer @($read)
