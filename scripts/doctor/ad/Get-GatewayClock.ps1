# Returns the current time of a domain controller.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Server)

Set-GatewayStep -Label 'read time'
$now = ([datetime](Get-ADRootDSE -Server $Server).currentTime).ToUniversalTime()
[ordered]@{ time = [string]$now.ToString('yyyy-MM-ddTHH:mm:ss.fffZ', $GatewayInvariant) }
