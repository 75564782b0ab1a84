# Tests Get-ADPrincipalGroupMembership, which the gateway does not use, with names that contain a slash.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

$name = $Prefix + 'a/b'
New-ADUser -Name $name -SamAccountName ($Prefix + 's1') -Path $Base -Server $Server -Confirm:$false
New-ADGroup -Name ($Prefix + 'g/h') -SamAccountName ($Prefix + 's2') -GroupScope Global -Path $Base -Server $Server -Confirm:$false
Add-ADGroupMember -Identity ($Prefix + 's2') -Members ($Prefix + 's1') -Server $Server -Confirm:$false
Test-GatewayFact -Fact 'user and group with a slash, by account name' -Action {
    [string]@(Get-ADPrincipalGroupMembership -Identity ($Prefix + 's1') -Server $Server).Length + ' groups'
}
Test-GatewayFact -Fact 'user and group with a slash, by DN' -Action {
    [string]@(Get-ADPrincipalGroupMembership -Identity ('CN=' + $name + ',' + $Base) -Server $Server).Length + ' groups'
}
