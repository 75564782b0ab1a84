# Creates a user for measurements and returns its GUID.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

Set-GatewayStep -Label 'create user' -Arg 'Base'
New-ADUser -Name ($Prefix + 't1') -SamAccountName ($Prefix + 't1') -Path $Base -Server $Server -Confirm:$false
[ordered]@{ guid = [string](Get-ADUser -Identity ($Prefix + 't1') -Server $Server).ObjectGUID }
