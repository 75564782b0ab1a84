# Reads one record by name and data. Without a zone, it searches all zones whose records the server holds.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Type,
    [AllowNull()] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [string] $Address,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

if (-not $ZoneName -and -not $Address) {
    $found = @(Get-GatewayRecordReport -Type $Type -Name $Name -Data $Data -AllowedZone $AllowedZone -ComputerName $ComputerName)
    if ($found.Length -eq 0) {
        Stop-Gateway -Code 'not_found' -Arg 'Name' -Message "There is no $Type record '$Name' with these data in any zone."
    }
    if ($found.Length -gt 1) { Stop-GatewayAmbiguous -Record $found }
    return $found[0]
}
$ask = @{ Type = $Type; ZoneName = $ZoneName; Name = $Name; Address = $Address; Data = $Data; AllowedZone = $AllowedZone; ComputerName = $ComputerName }
$place = Resolve-GatewayRecord @ask
Set-GatewayStep -Label 'find record' -Arg 'Name'
$present = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
$record = Find-GatewayRecord -Type $Type -Place $place -Present $present
ConvertTo-GatewayRecord -Record @($record) -ZoneName $place.name -Type $Type
