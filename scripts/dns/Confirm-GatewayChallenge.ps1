# Returns whether the TXT record of a challenge exists, to settle a write that was cut off.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Text,
    [Parameter(Mandatory)] [string] $ComputerName
)

$place = Resolve-GatewayChallenge -Name $Name -Privileged $true -ComputerName $ComputerName
$found = Find-GatewayChallenge -Place $place -Text $Text
[ordered]@{
    guid   = ''
    dn     = [string]$place.fqdn
    age    = 0
    state  = [ordered]@{ exists = [string]($null -ne $found) }
    record = $null
}
