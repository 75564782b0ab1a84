# Adds the TXT record that answers a challenge; the others of its name stay. With Pair, only the newest of the answers
# stays beside it.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Text,
    [Parameter(Mandatory)] [int] $TimeToLive,
    [bool] $Pair = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$caller = @{ AllowedZone = $AllowedZone; Privileged = $Privileged; KnownController = $KnownController; ComputerName = $ComputerName }
$place = Resolve-GatewayChallenge -Name $Name @caller

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

# Act. The values that are too many go last, and come back with none: a client asks again.
Set-GatewayStep -Label 'create record' -Arg 'Name'
$create = @{
    ZoneName = $place.zone; Name = $place.owner; DescriptiveText = $Text; TimeToLive = [timespan]::new([long]$seconds * 10000000)
    ComputerName = $ComputerName; AgeRecord = $false; AllowUpdateAny = $false; PassThru = $true; Confirm = $false
}
$created = @(Add-DnsServerResourceRecord -Txt @create)[0]
$remove = {
    param($ZoneName, $Record, $ComputerName)
    Remove-DnsServerResourceRecord -ZoneName $ZoneName -InputObject $Record -ComputerName $ComputerName -Force -Confirm:$false
}
$arguments = @{ ZoneName = $place.zone; Record = $created; ComputerName = $ComputerName }
Complete-GatewayStep -Label 'create record' -Dn $place.fqdn -Undo $remove -Arguments $arguments
foreach ($value in $surplus) {
    Set-GatewayStep -Label 'remove oldest' -Arg 'Name'
    Remove-DnsServerResourceRecord -ZoneName $place.zone -InputObject $value.record -ComputerName $ComputerName -Force -Confirm:$false
    Complete-GatewayStep -Label 'remove oldest' -Dn $place.fqdn
}
Complete-GatewayChange -Effect 'created'

# Report.
Add-GatewayChange -Dn $place.fqdn -Before $null -After ([ordered]@{ type = 'TXT'; data = [string]$Text; ttl = [int]$seconds })
foreach ($value in $surplus) {
    Add-GatewayChange -Dn $place.fqdn -Before ([ordered]@{ type = 'TXT'; data = [string]$value.text }) -After $null
}
