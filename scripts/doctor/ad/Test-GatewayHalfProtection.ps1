# Tests an OU that has its own half of a protection while its parent lacks the other. The OU is given the access
# list of a protected OU.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

$plain = @{ ProtectedFromAccidentalDeletion = $false; Server = $Server; Confirm = $false }
$place = 'OU=' + $Prefix + 'halfplace,' + $Base
$half = 'OU=' + $Prefix + 'half,' + $place
New-ADOrganizationalUnit -Name ($Prefix + 'model') -Path $Base -ProtectedFromAccidentalDeletion $true -Server $Server -Confirm:$false
New-ADOrganizationalUnit -Name ($Prefix + 'halfplace') -Path $Base @plain
New-ADOrganizationalUnit -Name ($Prefix + 'half') -Path $place @plain
New-ADOrganizationalUnit -Name ($Prefix + 'inhalf') -Path $half @plain
$model = Get-ADObject -Identity ('OU=' + $Prefix + 'model,' + $Base) -Properties 'nTSecurityDescriptor' -Server $Server
Test-GatewayFact -Fact 'access list of a protected OU, given to another' -Action {
    Set-ADObject -Identity $half -Replace @{ nTSecurityDescriptor = $model.nTSecurityDescriptor } -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'half of a protection, as it reads' -Action {
    [string](Get-ADObject -Identity $half -Properties 'ProtectedFromAccidentalDeletion' -Server $Server).ProtectedFromAccidentalDeletion
}
Test-GatewayFact -Fact 'lifting half of a protection' -Action {
    Set-ADObject -Identity $half -ProtectedFromAccidentalDeletion $false -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'removal of its tree after that' -Action {
    Remove-ADOrganizationalUnit -Identity $half -Recursive -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'removal of its tree, the protection completed and lifted' -Action {
    Set-ADObject -Identity $half -ProtectedFromAccidentalDeletion $true -Server $Server -Confirm:$false
    Set-ADObject -Identity $half -ProtectedFromAccidentalDeletion $false -Server $Server -Confirm:$false
    Remove-ADOrganizationalUnit -Identity $half -Recursive -Server $Server -Confirm:$false
}
