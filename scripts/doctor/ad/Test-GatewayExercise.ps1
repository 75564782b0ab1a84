# Exercises the rights of the account that runs it with the same calls as requests, on objects that it creates.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Base,
    [Parameter(Mandatory)] [string] $Prefix,
    [Parameter(Mandatory)] [securestring] $Password,
    [Parameter(Mandatory)] [string] $Server
)

$at = @{ Server = $Server; Confirm = $false }
$user = $Prefix + 'r1'
$group = $Prefix + 'rg'
$computer = $Prefix + 'rc'
$place = 'OU=' + $Prefix + 'rights,' + $Base
Test-GatewayFact -Fact 'create an OU' -Action { New-ADOrganizationalUnit -Name ($Prefix + 'rights') -Path $Base -ProtectedFromAccidentalDeletion $false @at }
Test-GatewayFact -Fact 'create a user' -Action { New-ADUser -Name $user -SamAccountName $user -Path $Base @at }
Test-GatewayFact -Fact 'reset its password' -Action { Set-ADAccountPassword -Identity $user -Reset -NewPassword $Password @at }
Test-GatewayFact -Fact 'enable it' -Action { Enable-ADAccount -Identity $user @at }
Test-GatewayFact -Fact 'force a new password' -Action { Set-ADUser -Identity $user -ChangePasswordAtLogon $true @at }
Test-GatewayFact -Fact 'change its attributes' -Action {
    Set-ADUser -Identity $user -Replace @{ givenName = 'A'; department = 'B'; telephoneNumber = '1' } -Manager $user @at
}
Test-GatewayFact -Fact 'write its userParameters over LDAP' -Action {
    $guid = [string](Get-ADUser -Identity $user -Server $Server).ObjectGUID
    Set-GatewayUserParameters -Guid $guid -Old '' -New (ConvertTo-GatewayUserParameters -Text '' -Given @{ RdsAllowLogon = $false }) -Server $Server
}
Test-GatewayFact -Fact 'rename it' -Action {
    Rename-ADObject -Identity ([string](Get-ADUser -Identity $user -Server $Server).ObjectGUID) -NewName ($Prefix + 'r2') @at
}
Test-GatewayFact -Fact 'move it' -Action {
    Move-ADObject -Identity ([string](Get-ADUser -Identity $user -Server $Server).ObjectGUID) -TargetPath $place @at
}
Test-GatewayFact -Fact 'create a group' -Action { New-ADGroup -Name $group -SamAccountName $group -GroupScope Global -Path $Base @at }
Test-GatewayFact -Fact 'add and remove a member' -Action {
    Add-ADGroupMember -Identity $group -Members $user @at
    Remove-ADGroupMember -Identity $group -Members $user @at
}
Test-GatewayFact -Fact 'create a computer' -Action { New-ADComputer -Name $computer -SamAccountName ($computer + '$') -Path $Base @at }
Test-GatewayFact -Fact 'disable a computer' -Action { Disable-ADAccount -Identity ('CN=' + $computer + ',' + $Base) @at }
Test-GatewayFact -Fact 'protect an OU' -Action { Set-ADObject -Identity $place -ProtectedFromAccidentalDeletion $true @at }
Test-GatewayFact -Fact 'lift the protection' -Action { Set-ADObject -Identity $place -ProtectedFromAccidentalDeletion $false @at }
Test-GatewayFact -Fact 'remove a computer' -Action { Remove-ADComputer -Identity ('CN=' + $computer + ',' + $Base) @at }
Test-GatewayFact -Fact 'remove a group' -Action { Remove-ADGroup -Identity $group @at }
Test-GatewayFact -Fact 'remove a user' -Action { Remove-ADUser -Identity $user @at }
Test-GatewayFact -Fact 'remove an OU' -Action { Remove-ADOrganizationalUnit -Identity $place @at }
