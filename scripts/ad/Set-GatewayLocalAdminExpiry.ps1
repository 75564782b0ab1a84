# Sets the time when the password of a computer's local administrator expires. Without ExpiresAt it expires now.
# ExpiresAt is the time for people, and ExpiresAtTicks the file time to store. The computer sets a new password once
# the old one has expired.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [AllowNull()] [string] $ExpiresAt,
    [AllowNull()] [string] $ExpiresAtTicks,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$properties = $GatewayGuardProperties + @('userAccountControl')
$computer = Find-GatewayComputer -Identity $Identity -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
$guid = [string]$computer.ObjectGUID
$dn = [string]$computer.DistinguishedName

# Guard.
Assert-GatewayPrivilege -Object $computer -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'Identity'
$laps = Get-GatewayLaps -Guid $guid -Server $Server
if ($laps.kind -eq 'none') { Stop-GatewayUnmanaged -Computer $computer -Arg 'Identity' }
$old = [string](Get-GatewayFileTime -Value $laps.ticks)
$new = $ExpiresAt
$ticks = $ExpiresAtTicks
if (-not $ExpiresAt) {
    $now = ([datetime](Get-ADRootDSE -Server $Server).currentTime).ToUniversalTime()
    $first = [long]0 # of file times
    $ticks = [string]([long]($now - [DateTime]::FromFileTimeUtc($first)).TotalSeconds * 10000000)
    $new = [string](Get-GatewayFileTime -Value $ticks)
}

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $computer
Add-GatewayIntent -Name $laps.attribute -Before $old -After $new
Write-GatewayIntent -Effect 'changed'

# Act.
if (-not $old.Equals($new, [System.StringComparison]::Ordinal)) {
    Set-GatewayStep -Label 'set expiry' -Arg 'ExpiresAt'
    Set-ADComputer -Identity $guid -Replace @{ $laps.attribute = [long]$ticks } -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'set expiry' -Guid $guid -Dn $dn
    Complete-GatewayChange -Effect 'changed'
    Add-GatewayChange -Guid $guid -Dn $dn -Before @{ $laps.attribute = $old } -After @{ $laps.attribute = [string]$new }
}

# Report.
ConvertTo-GatewayLocalAdmin -Computer $computer -Laps (Get-GatewayLaps -Guid $guid -Server $Server)
