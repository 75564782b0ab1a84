# Tests how the directory removes and moves objects with children.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

$computer = 'CN=' + $Prefix + 'c1,' + $Base
$ou = 'OU=' + $Prefix + 'full,' + $Base
New-ADComputer -Name ($Prefix + 'c1') -SamAccountName ($Prefix + 'c1$') -Path $Base -Server $Server -Confirm:$false
New-ADObject -Name ($Prefix + 'scp') -Type 'serviceConnectionPoint' -Path $computer -Server $Server -Confirm:$false
New-ADOrganizationalUnit -Name ($Prefix + 'full') -Path $Base -ProtectedFromAccidentalDeletion $false -Server $Server -Confirm:$false
New-ADOrganizationalUnit -Name ($Prefix + 'inner') -Path $ou -ProtectedFromAccidentalDeletion $false -Server $Server -Confirm:$false
Test-GatewayFact -Fact 'removal of a computer with a child' -Action {
    Remove-ADComputer -Identity $computer -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'removal of an OU with a child' -Action {
    Remove-ADOrganizationalUnit -Identity $ou -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'move of an OU below itself' -Action {
    Move-ADObject -Identity $ou -TargetPath ('OU=' + $Prefix + 'inner,' + $ou) -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'removal of a computer with all below it' -Action {
    Remove-ADObject -Identity $computer -Recursive -Server $Server -Confirm:$false
}
