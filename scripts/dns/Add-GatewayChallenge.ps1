# Adds the TXT record that answers a challenge. Other records of its name are kept. With Pair, only the newest of
# the earlier answers is kept as well.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Text,
    [Parameter(Mandatory)] [int] $TimeToLive,
    [bool] $Pair = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$guards = @{ Privileged = $Privileged; KnownController = $KnownController; GuardedName = $GuardedName }
$place = Resolve-GatewayChallenge -Name $Name -AllowedZone $AllowedZone -ComputerName $ComputerName @guards

# Guard.
if ($place.alias -ne '') {
    Stop-Gateway -Code 'conflict' -Arg 'Name' -Message "The name '$Name' is a CNAME. Present the challenge at its target, '$($place.alias)'."
}
if ($null -ne (Find-GatewayChallenge -Place $place -Text $Text)) { return }
$seconds = $TimeToLive
$surplus = @()
if ($Pair) {
    $last = Find-GatewayNewestChallenge -Value $place.values -TimeToLive $TimeToLive
    foreach ($value in $place.values) {
        if (-not $value.text.Equals($last.text, [System.StringComparison]::Ordinal)) { $surplus += $value }
    }
    if ($null -ne $last) { $seconds = $TimeToLive + (($last.turn + 1) % 3) }
}

# Announce.
New-GatewayIntent -Creates -Dn $place.fqdn -Parent $place.name -Name "TXT $Text"
Write-GatewayIntent -Effect 'created'

# Act. Surplus values are removed last. They are not restored by an undo, because a client requests a new challenge.
Add-GatewayRecordValue -ZoneName $place.zone -Owner $place.owner -Type 'TXT' -Data @($Text) -TimeToLive $seconds -ComputerName $ComputerName
foreach ($value in $surplus) {
    Set-GatewayStep -Label 'remove oldest' -Arg 'Name'
    Remove-GatewayRecordObject -ZoneName $place.zone -Record $value.record -ComputerName $ComputerName
    Complete-GatewayStep -Label 'remove oldest' -Dn $place.fqdn
}
Complete-GatewayChange -Effect 'created'

# Report.
Add-GatewayChange -Dn $place.fqdn -Before $null -After ([ordered]@{ type = 'TXT'; data = [string]$Text; ttl = [int]$seconds })
foreach ($value in $surplus) {
    Add-GatewayChange -Dn $place.fqdn -Before ([ordered]@{ type = 'TXT'; data = [string]$value.text }) -After $null
}
