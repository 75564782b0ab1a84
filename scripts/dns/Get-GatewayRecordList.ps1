# Lists the records of one zone, or of all zones that the server holds itself; with Name or Data only those with
# exactly that owner name or these data. One type is listed in its own form, unless Mixed asks for the common one. Named
# leaves those of a name in full and those that lead to it, StampedBefore those with an older time stamp.
[CmdletBinding()]
param(
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Type,
    [bool] $Mixed = $false,
    [AllowNull()] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [string] $Named,
    [AllowNull()] [string] $StampedBefore,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$ask = @{ ZoneName = $ZoneName; Name = $Name; Data = $Data; AllowedZone = $AllowedZone; ComputerName = $ComputerName }
if (-not $Mixed) { return Get-GatewayRecordReport -Type $Type[0] @ask }
$limit = $null
if ($StampedBefore) { $limit = ([datetime]$StampedBefore).ToUniversalTime() }
$bare = ([string]$Named).TrimEnd([char]'.')
foreach ($record in @(Get-GatewayRecordReport @ask)) {
    if ($StampedBefore) {
        if ($record.timestamp -eq '') { continue }
        if ([long](([datetime]$record.timestamp).ToUniversalTime() - $limit).TotalSeconds -ge 0) { continue }
    }
    if ($bare -ne '' -and -not (Test-GatewayNaming -Report $record -Name $bare)) { continue }
    if ($null -eq $Type -or $Type.Length -eq 0 -or (Test-GatewayListed -Text $record.type -List $Type)) { $record }
}
