# Tests which changes protection from accidental deletion blocks.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

foreach ($name in @('target', 'tree')) {
    New-ADOrganizationalUnit -Name ($Prefix + $name) -Path $Base -ProtectedFromAccidentalDeletion $false -Server $Server -Confirm:$false
}
$target = 'OU=' + $Prefix + 'target,' + $Base
$tree = 'OU=' + $Prefix + 'tree,' + $Base
New-ADOrganizationalUnit -Name ($Prefix + 'protected') -Path $Base -ProtectedFromAccidentalDeletion $true -Server $Server -Confirm:$false
New-ADOrganizationalUnit -Name ($Prefix + 'below') -Path $tree -ProtectedFromAccidentalDeletion $true -Server $Server -Confirm:$false
$protected = 'OU=' + $Prefix + 'protected,' + $Base
Test-GatewayFact -Fact 'move of a protected OU' -Action {
    Move-ADObject -Identity $protected -TargetPath $target -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'removal of a protected OU' -Action {
    Remove-ADOrganizationalUnit -Identity $protected -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'rename of a protected OU' -Action {
    Rename-ADObject -Identity $protected -NewName ($Prefix + 'renamed') -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'removal of a tree with a protected OU in it' -Action {
    Remove-ADOrganizationalUnit -Identity $tree -Recursive -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'what is left of that tree' -Action {
    $filter = '(name=' + (Get-GatewayLdapEscaped -Value ($Prefix + 'below')) + ')'
    [string]@(Get-ADObject -LDAPFilter $filter -SearchBase $Base -Server $Server).Length + ' protected'
}
