# Creates one record; its siblings stay.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Type,
    [AllowNull()] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [string] $Address,
    [Parameter(Mandatory)] [string[]] $Data,
    [int] $TimeToLive = -1,
    [bool] $CreatePtr = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
$ask = @{ Type = $Type; ZoneName = $ZoneName; Name = $Name; Address = $Address; Data = $Data; AllowedZone = $AllowedZone; ComputerName = $ComputerName }
$place = Resolve-GatewayRecord -Guards $guards -Missing 'unprocessable' @ask
$value = @($place.data)

# Guard.
Assert-GatewayRecordZone -Zone $place.zone
$pointer = $null
if ($CreatePtr) { $pointer = Resolve-GatewayNewPointer -Address $value[0] -Fqdn $place.fqdn -AllowedZone $AllowedZone -ComputerName $ComputerName }
Assert-GatewayUndelegated -Place $place -ComputerName $ComputerName
Assert-GatewayNoTree -Place $place -Type $Type -ComputerName $ComputerName
Set-GatewayStep -Label 'check name' -Arg 'Name'
$before = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
Assert-GatewayFree -Place $place -Type $Type -Data $value -Present $before

# Announce.
New-GatewayIntent -Dn $place.fqdn -Parent $place.name
Add-GatewayValueIntent -Fqdn $place.fqdn -Type $Type -Data $value -Before $false -After $true
if ($null -ne $pointer) { Add-GatewayValueIntent -Fqdn $pointer.fqdn -Type 'PTR' -Data @($pointer.target) -Before $false -After $true }
Write-GatewayIntent -Effect 'created'

# Act.
Add-GatewayRecordValue -ZoneName $place.name -Owner $place.owner -Type $Type -Data $value -TimeToLive $TimeToLive -ComputerName $ComputerName
if ($null -ne $pointer) {
    Add-GatewayRecordValue -ZoneName $pointer.name -Owner $pointer.owner -Type 'PTR' -Data @($pointer.target) -Arg 'CreatePtr' -ComputerName $ComputerName
}
Complete-GatewayChange -Effect 'created'

# Report.
$after = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
$record = Find-GatewayRecord -Type $Type -Place $place -Present $after
$report = ConvertTo-GatewayRecord -Record @($record) -ZoneName $place.name -Type $Type
Add-GatewayLoss -Fqdn $place.fqdn -Before $before -After $after
Add-GatewayChange -Dn ([string]$record.DistinguishedName) -Before $null -After $report
Add-GatewayCreated -Image @{ records = @(ConvertTo-GatewayRecord -Record @($record) -ZoneName $place.name) }
if ($null -ne $pointer) {
    Add-GatewayChange -Dn $pointer.fqdn -Before $null -After @{ type = 'PTR'; data = [string]$pointer.target; zone = [string]$pointer.name }
}
$report
