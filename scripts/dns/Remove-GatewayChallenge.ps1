# Removes the TXT record that answered a challenge. Other records of its name are kept. It is not an error if the
# record does not exist.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Text,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$guards = @{ Privileged = $Privileged; KnownController = $KnownController; GuardedName = $GuardedName }
$place = Resolve-GatewayChallenge -Name $Name -AllowedZone $AllowedZone -ComputerName $ComputerName @guards
$found = Find-GatewayChallenge -Place $place -Text $Text
if ($null -eq $found) { return }

# Announce.
New-GatewayIntent -Removes -Dn $place.fqdn -Parent $place.name -Name "TXT $Text"
Write-GatewayIntent -Effect 'removed'

# Act.
Set-GatewayStep -Label 'remove record' -Arg 'Name'
Remove-GatewayRecordObject -ZoneName $place.zone -Record $found -ComputerName $ComputerName
Complete-GatewayStep -Label 'remove record' -Dn $place.fqdn
Complete-GatewayChange -Effect 'removed'

# Report.
Add-GatewayChange -Dn $place.fqdn -Before ([ordered]@{ type = 'TXT'; data = [string]$Text }) -After $null
