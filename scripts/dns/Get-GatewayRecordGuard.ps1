# Returns the reason why only callers with the scope 'privileged' may change the records of a name. Without a
# name, it returns the reasons for all names in the zone. Target contains names to which PTR records lead.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Target,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

$zone = Find-GatewayZone -ZoneName $ZoneName -ComputerName $ComputerName -AllowedZone $AllowedZone
$written = [string]$zone.ZoneName
$owner = '-' # no host can have this name, so nothing guards it but the zone
if ($Name) { $owner = Get-GatewayRelativeName -Name $Name -ZoneName $written }
if ($owner -eq '') {
    Stop-Gateway -Code 'not_found' -Arg 'Name' -Message "The name '$Name' lies outside the zone '$written'."
}
$guards = @{ KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
$why = [string](Get-GatewayNameReason -Name (Get-GatewayFullName -Owner $owner -ZoneName $written) @guards)
$targets = @(foreach ($one in @($Target)) {
        if ($one -and (Get-GatewayTargetReason -Target $one @guards) -ne '') { $one }
    })
if (-not $Name) { $owner = '' }
[ordered]@{
    zoneName       = $written
    name           = [string]$owner
    guarded        = [bool]($why -ne '')
    why            = $why
    guardedTargets = [string[]]$targets
    whyAging       = [string]$GatewayGuards.aging.why
}
