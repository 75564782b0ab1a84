# Lists the records of one zone, or of all zones whose records the server holds. With Name or Data, it lists only
# those with exactly this owner name or this data. Records of one type are listed in the form of the type, unless
# Mixed requests the common form. Named selects the records of a full name and those that lead to it, and
# StampedBefore those with an older time stamp.
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
