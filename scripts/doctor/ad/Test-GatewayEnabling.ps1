# Tests whether an account can be created and enabled without a password.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

Test-GatewayFact -Fact 'new enabled user without password' -Action {
    New-ADUser -Name ($Prefix + 'e1') -SamAccountName ($Prefix + 'e1') -Path $Base -Enabled $true -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'what is left of it' -Action {
    $user = Get-ADUser -Identity ($Prefix + 'e1') -Server $Server
    'enabled ' + [string]$user.Enabled
}
New-ADUser -Name ($Prefix + 'e2') -SamAccountName ($Prefix + 'e2') -Path $Base -Server $Server -Confirm:$false
Test-GatewayFact -Fact 'enabling without password' -Action {
    Enable-ADAccount -Identity ($Prefix + 'e2') -Server $Server -Confirm:$false
}
