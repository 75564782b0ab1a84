# Removes exactly one record and no other record of its name (facts E60).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Type,
    [AllowNull()] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [string] $Address,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
    [bool] $RemovePtr = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
$ask = @{ Type = $Type; ZoneName = $ZoneName; Name = $Name; Address = $Address; Data = $Data; AllowedZone = $AllowedZone; ComputerName = $ComputerName }
$place = Resolve-GatewayRecord -Guards $guards @ask
$pointer = $null
if ($RemovePtr) {
    $pointer = Find-GatewayPointer -Address $Data[0] -Fqdn $place.fqdn -AllowedZone $AllowedZone -Arg 'RemovePtr' -ComputerName $ComputerName
}
Set-GatewayStep -Label 'find record' -Arg 'Name'
$before = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
$record = Find-GatewayRecord -Type $Type -Place $place -Present $before

# Guard.
Assert-GatewayRecordZone -Zone $place.zone
if ($RemovePtr -and ($null -eq $pointer -or $null -eq $pointer.record)) {
    Add-GatewayWarning -Code 'no_ptr' -Target $place.fqdn -Message "There is no PTR record of $($Data[0]) that leads to this name on this server."
    $pointer = $null
}
$report = ConvertTo-GatewayRecord -Record @($record) -ZoneName $place.name -Type $Type
$dn = [string]$record.DistinguishedName
$value = @(Get-GatewayRecordField -Record $record)
$image = @(ConvertTo-GatewayRecord -Record @($record) -ZoneName $place.name)
if ($null -ne $pointer) { $image += @(ConvertTo-GatewayRecord -Record @($pointer.record) -ZoneName $pointer.name) }

# Announce.
New-GatewayIntent -Dn $place.fqdn -Parent $place.name -Record $report -Image @{ records = $image }
Add-GatewayValueIntent -Fqdn $place.fqdn -Type $Type -Data $value -Before $true -After $false
if ($null -ne $pointer) { Add-GatewayValueIntent -Fqdn $pointer.fqdn -Type 'PTR' -Data @($pointer.target) -Before $true -After $false }
Write-GatewayIntent -Effect 'removed'

# Act.
Remove-GatewayRecordValue -ZoneName $place.name -Record $record -ComputerName $ComputerName
if ($null -ne $pointer) { Remove-GatewayRecordValue -ZoneName $pointer.name -Record $pointer.record -ComputerName $ComputerName }
Complete-GatewayChange -Effect 'removed'

# Report.
$after = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
Add-GatewayLoss -Fqdn $place.fqdn -Before $before -After $after -Removed @(Get-GatewayNodeKey -Fqdn $place.fqdn -Record @($record))
Add-GatewayChange -Dn $dn -Before $report -After $null
if ($null -ne $pointer) {
    Add-GatewayChange -Dn $pointer.fqdn -Before @{ type = 'PTR'; data = [string]$pointer.target; zone = [string]$pointer.name } -After $null
}
$report
