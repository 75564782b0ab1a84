# Tests which names the directory considers equal, and how the module returns values.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

$marked = $Prefix + 'm' + [string][char]0xFC + 'r'
$plain = $Prefix + 'mur'
$new = @{ Path = $Base; OtherAttributes = @{ postOfficeBox = 'one' }; Server = $Server; Confirm = $false }
New-ADUser -Name $marked -SamAccountName $marked @new
Test-GatewayFact -Fact 'account name with a mark, asked for without' -Action {
    $filter = '(sAMAccountName=' + (Get-GatewayLdapEscaped -Value $plain) + ')'
    [string]@(Get-ADUser -LDAPFilter $filter -SearchBase $Base -Server $Server).Length + ' found'
}
Test-GatewayFact -Fact 'account name that differs by a mark' -Action {
    New-ADUser -Name ($Prefix + 'r1') -SamAccountName $plain -Path $Base -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'name that differs by a mark' -Action {
    New-ADUser -Name $plain -SamAccountName ($Prefix + 'r2') -Path $Base -Server $Server -Confirm:$false
}
Test-GatewayFact -Fact 'properties that are asked for twice' -Action {
    $properties = @('description', 'Description', 'LockedOut', 'lockedOut', 'mail', 'mail', 'givenname')
    [string]@(Get-ADUser -Identity $marked -Properties $properties -Server $Server).Length + ' found'
}
Test-GatewayFact -Fact 'kinds of whenCreated and currentTime' -Action {
    $user = Get-ADUser -Identity $marked -Properties 'whenCreated' -Server $Server
    [string]([datetime]$user.whenCreated).Kind + ', ' + [string]([datetime](Get-ADRootDSE -Server $Server).currentTime).Kind
}
Test-GatewayFact -Fact 'one value of an attribute that may have several' -Action {
    $user = Get-ADUser -Identity $marked -Properties 'postOfficeBox' -Server $Server
    [string]$user.postOfficeBox.GetType().Name + ', as text ' + [string]$user.postOfficeBox
}
