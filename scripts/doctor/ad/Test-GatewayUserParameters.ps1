# Tests how userParameters is transferred to the directory and back: by the web service of the module, which uses
# XML, and over LDAP.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

New-ADUser -Name ($Prefix + 'u1') -SamAccountName ($Prefix + 'u1') -Path $Base -Server $Server -Confirm:$false
$guid = [string](Get-ADUser -Identity ($Prefix + 'u1') -Server $Server).ObjectGUID
$packed = ConvertTo-GatewayUserParameters -Text '' -Given @{ RdsProfilePath = '\\server\profiles\user'; RdsAllowLogon = $false }
$plain = 'text of another program'
Test-GatewayFact -Fact 'plain text, web service' -Action {
    Set-ADUser -Identity $guid -Replace @{ userParameters = $plain } -Server $Server -Confirm:$false
    $read = [string](Get-ADUser -Identity $guid -Properties 'userParameters' -Server $Server).userParameters
    if ([string]::Equals($read, $plain, [System.StringComparison]::Ordinal)) { 'read back as written' } else { 'read back otherwise, length ' + $read.Length }
}
Test-GatewayFact -Fact 'packed value, LDAP' -Action {
    $old = Get-GatewayUserParameters -Guid $guid -Server $Server
    Set-GatewayUserParameters -Guid $guid -Old $old -New $packed -Server $Server
    $read = Get-GatewayUserParameters -Guid $guid -Server $Server
    if ([string]::Equals($read, $packed, [System.StringComparison]::Ordinal)) { 'read back as written' } else { 'read back otherwise, length ' + $read.Length }
}
Test-GatewayFact -Fact 'packed value, read by web service' -Action {
    $read = [string](Get-ADUser -Identity $guid -Properties 'userParameters' -Server $Server).userParameters
    if ([string]::Equals($read, $packed, [System.StringComparison]::Ordinal)) { 'read back as written' } else { 'read back otherwise, length ' + $read.Length }
}
Test-GatewayFact -Fact 'packed value, web service' -Action {
    Set-ADUser -Identity $guid -Clear 'userParameters' -Server $Server -Confirm:$false
    Set-ADUser -Identity $guid -Replace @{ userParameters = $packed } -Server $Server -Confirm:$false
    $read = Get-GatewayUserParameters -Guid $guid -Server $Server
    if ([string]::Equals($read, $packed, [System.StringComparison]::Ordinal)) { 'read back as written' } else { 'read back otherwise, length ' + $read.Length }
}
