# Lists the records of one zone, or of all zones that the server holds itself; with Name or Data only those with
# exactly that owner name or these data. One type is listed in its own form, unless Mixed asks for the common one.
[CmdletBinding()]
param(
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Type,
    [bool] $Mixed = $false,
    [AllowNull()] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$ask = @{ ZoneName = $ZoneName; Name = $Name; Data = $Data; AllowedZone = $AllowedZone; ComputerName = $ComputerName }
if (-not $Mixed) { return Get-GatewayRecordReport -Type $Type[0] @ask }
foreach ($record in @(Get-GatewayRecordReport @ask)) {
    if ($null -eq $Type -or $Type.Length -eq 0 -or (Test-GatewayListed -Text $record.type -List $Type)) { $record }
}
