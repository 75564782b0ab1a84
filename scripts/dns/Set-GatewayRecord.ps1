# Changes one record. A new value is added before the old one is removed. Both are passed as objects, so that the
# other records of the name keep their time stamps, and PTR records are kept. A time to live, and the value of a
# type that must be alone at its name, is changed in place.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Type,
    [AllowNull()] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [string] $Address,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $NewData,
    [int] $TimeToLive = -1,
    [bool] $MakeStatic = $false,
    [bool] $CreatePtr = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
$ask = @{ Type = $Type; ZoneName = $ZoneName; Name = $Name; Address = $Address; AllowedZone = $AllowedZone; ComputerName = $ComputerName }
if ($GatewayRecordTypes[$Type].reverse) { Assert-GatewayReverseTarget -Data $NewData @guards }
$place = Resolve-GatewayRecord -Guards $guards -Missing 'unprocessable' -Data $Data @ask
Set-GatewayStep -Label 'find record' -Arg 'Name'
$before = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
$record = Find-GatewayRecord -Type $Type -Place $place -Present $before
$old = @(Get-GatewayRecordField -Record $record)
$new = @(Get-GatewayRecordData -Type $Type -Data $NewData -ZoneName $place.name)
for ($i = 0; $i -lt $old.Length; $i++) {
    if ($i -ge $new.Length) { $new += $old[$i] }
    if ($new[$i] -eq '') { $new[$i] = $old[$i] }
}
$oldKey = Get-GatewayRecordKey -Fqdn $place.fqdn -Type $Type -Data $old
$newKey = Get-GatewayRecordKey -Fqdn $place.fqdn -Type $Type -Data $new
$replaces = -not $oldKey.Equals($newKey)
$seconds = [int]$record.TimeToLive.TotalSeconds
if ($TimeToLive -lt 0) { $TimeToLive = $seconds }
$sets = -not $replaces -and ($TimeToLive -ne $seconds -or ($MakeStatic -and $null -ne $record.Timestamp))

# Guard.
Assert-GatewayRecordZone -Zone $place.zone
$pointer = $null
if ($CreatePtr) { $pointer = Resolve-GatewayNewPointer -Address $new[0] -Fqdn $place.fqdn -AllowedZone $AllowedZone -ComputerName $ComputerName }
$place.data = $new
if (-not $replaces -and -not $sets -and $null -eq $pointer) {
    return ConvertTo-GatewayRecord -Record @($record) -ZoneName $place.name -Type $Type
}
Assert-GatewayUndelegated -Place $place -ComputerName $ComputerName
if ($replaces -or $sets) { Assert-GatewayStatic -Record @($record) -MakeStatic $MakeStatic }
if ($replaces) {
    $others = @(foreach ($item in $before) { if (@(Select-GatewayRecord -Record @($item) -Type $Type -Data $old).Length -eq 0) { $item } })
    Assert-GatewayFree -Place $place -Type $Type -Data $new -Present $others
}
$alone = [bool]$GatewayRecordTypes[$Type].alone
$kept = $null
if ($sets -and $GatewayRecordTypes[$Type].address) { $kept = Find-GatewayPointer -Address $old[0] -Fqdn $place.fqdn -ComputerName $ComputerName }
$was = ConvertTo-GatewayRecord -Record @($record) -ZoneName $place.name -Type $Type

# Announce.
New-GatewayIntent -Dn $place.fqdn -Parent $place.name -Image @{ records = @(ConvertTo-GatewayRecord -Record @($record) -ZoneName $place.name) }
if ($replaces) {
    Add-GatewayValueIntent -Fqdn $place.fqdn -Type $Type -Data $new -Before $false -After $true
    Add-GatewayValueIntent -Fqdn $place.fqdn -Type $Type -Data $old -Before $true -After $false
}
Add-GatewayIntent -Name ('ttl ' + $newKey) -Before ([string]$(if ($replaces) { 'False' } else { $seconds })) -After ([string]$TimeToLive)
if ($null -ne $kept -and $null -ne $kept.record) { Add-GatewayValueIntent -Fqdn $kept.fqdn -Type 'PTR' -Data @($kept.target) -Before $true -After $true }
if ($null -ne $pointer) { Add-GatewayValueIntent -Fqdn $pointer.fqdn -Type 'PTR' -Data @($pointer.target) -Before $false -After $true }
Write-GatewayIntent -Effect 'changed'

# Act.
if ($replaces -and $alone) {
    Set-GatewayRecordValue -ZoneName $place.name -Record $record -Data $new -TimeToLive $TimeToLive -ComputerName $ComputerName
} elseif ($replaces) {
    Add-GatewayRecordValue -ZoneName $place.name -Owner $place.owner -Type $Type -Data $new -TimeToLive $TimeToLive -Arg 'NewData' -ComputerName $ComputerName
    Remove-GatewayRecordValue -ZoneName $place.name -Record $record -ComputerName $ComputerName
} elseif ($sets) {
    Set-GatewayRecordValue -ZoneName $place.name -Record $record -TimeToLive $TimeToLive -ComputerName $ComputerName
    Restore-GatewayPointer -Pointer @($kept) -ComputerName $ComputerName
}
if ($null -ne $pointer) {
    Add-GatewayRecordValue -ZoneName $pointer.name -Owner $pointer.owner -Type 'PTR' -Data @($pointer.target) -Arg 'CreatePtr' -ComputerName $ComputerName
}
Complete-GatewayChange -Effect 'changed'

# Report.
$after = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
$report = ConvertTo-GatewayRecord -Record @(Find-GatewayRecord -Type $Type -Place $place -Present $after) -ZoneName $place.name -Type $Type
Add-GatewayLoss -Fqdn $place.fqdn -Before $before -After $after -Removed @($oldKey)
Add-GatewayChange -Dn ([string]$record.DistinguishedName) -Before $was -After $report
$report
