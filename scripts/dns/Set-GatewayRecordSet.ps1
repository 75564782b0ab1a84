# Gives the set of a name and type exactly the given values. It adds missing values, sets all times to live, and
# then removes surplus values. If a step fails, that is reported, and the earlier steps are kept.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Type,
    [Parameter(Mandatory)] [string] $ZoneName,
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [AllowEmptyString()] [string[]] $Data,
    [int] $TimeToLive = -1,
    [bool] $MakeStatic = $false,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Doubt,
    [AllowNull()] [string] $OwnerDoubt,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
    [Parameter(Mandatory)] [string] $ComputerName
)

# Resolve.
$guards = @{ Privileged = $Privileged; KnownController = @($KnownController) + @($ComputerName); GuardedName = $GuardedName }
$ask = @{ Type = $Type; ZoneName = $ZoneName; Name = $Name; Data = $Data; AllowedZone = $AllowedZone; ComputerName = $ComputerName }
$place = Resolve-GatewayRecord -Guards $guards @ask
Set-GatewayStep -Label 'check name' -Arg 'Name'
$before = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
if (-not $GatewayRecordTypes[$Type].writable) { # succeeds only if the set already has these records
    $present = @(Select-GatewayRecord -Record $before -Type $Type)
    if ($present.Length -gt 0) {
        $set = ConvertTo-GatewayRecordSet -Record $present -ZoneName $place.name
        $wanted = [string[]]@(foreach ($text in $Data) { $text })
        $keys = [string[]]@(foreach ($text in $Data) { $text })
        [System.Array]::Sort([System.Array]$keys, [System.Array]$wanted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
        if ((Test-GatewaySameText -One $wanted -Other $set.data) -and ($TimeToLive -lt 0 -or [long]$TimeToLive -eq [long]$set.ttl)) { return $set }
    }
    Stop-Gateway -Code 'unprocessable' -Arg 'Type' -Message $OwnerDoubt
}
$plan = Get-GatewaySetPlan -Place $place -Type $Type -Present $before -TimeToLive $TimeToLive -MakeStatic $MakeStatic

# Guard.
Assert-GatewayRecordZone -Zone $place.zone
if ($plan.steps.Count -eq 0) { return ConvertTo-GatewayRecordSet -Record $plan.present -ZoneName $place.name }
if ($plan.present.Length -eq 0 -and $OwnerDoubt) { Stop-Gateway -Code 'unprocessable' -Arg 'Name' -Message $OwnerDoubt }
$size = $GatewayRecordTypes[$Type].fields.Length
foreach ($value in $plan.added) {
    for ($i = 0; $i -lt @($Doubt).Length; $i++) {
        $text = [string[]]@(for ($j = $i * $size; $j -lt ($i + 1) * $size; $j++) { $place.data[$j] })
        if (@($Doubt)[$i] -and (Test-GatewaySameText -One $text -Other $value)) {
            Stop-Gateway -Code 'unprocessable' -Arg 'Data' -Message @($Doubt)[$i]
        }
    }
}
Assert-GatewayUndelegated -Place $place -ComputerName $ComputerName
if ($plan.present.Length -eq 0) { Assert-GatewayNoTree -Place $place -Type $Type -ComputerName $ComputerName }
Assert-GatewayStatic -Record $plan.touched -MakeStatic $MakeStatic
foreach ($value in $plan.added) { Assert-GatewayFree -Place $place -Type $Type -Data $value -Present $plan.beside }
$kept = @()
if ($GatewayRecordTypes[$Type].address) {
    $kept = @(foreach ($step in $plan.steps) {
            if ($step.action -ne 'set') { continue }
            $address = @(Get-GatewayRecordField -Record $step.record)[0]
            Find-GatewayPointer -Address $address -Fqdn $place.fqdn -ComputerName $ComputerName
        })
}
$effect = 'created'
$was = $null
if ($plan.present.Length -gt 0) {
    $effect = 'changed'
    $was = ConvertTo-GatewayRecordSet -Record $plan.present -ZoneName $place.name
}

# Announce.
New-GatewayIntent -Dn $place.fqdn -Parent $place.name -Image @{ records = @(ConvertTo-GatewayRecord -Record $plan.present -ZoneName $place.name) }
foreach ($change in $plan.changes) { Add-GatewayIntent -Name $change.name -Before $change.before -After $change.after }
foreach ($pointer in $kept) {
    if ($null -ne $pointer.record) { Add-GatewayValueIntent -Fqdn $pointer.fqdn -Type 'PTR' -Data @($pointer.target) -Before $true -After $true }
}
Write-GatewayIntent -Effect $effect

# Act.
try {
    foreach ($step in $plan.steps) {
        if ($step.action -eq 'add') {
            $add = @{ Type = $Type; Data = $step.data; TimeToLive = $step.ttl; Arg = 'Data'; ComputerName = $ComputerName }
            Add-GatewayRecordValue -ZoneName $place.name -Owner $place.owner @add
        } elseif ($step.action -eq 'set') {
            Set-GatewayRecordValue -ZoneName $place.name -Record $step.record -Data $step.data -TimeToLive $step.ttl -ComputerName $ComputerName
        } else {
            Remove-GatewayRecordValue -ZoneName $place.name -Record $step.record -ComputerName $ComputerName
        }
    }
    Restore-GatewayPointer -Pointer $kept -ComputerName $ComputerName
} catch {
    # If a server has interpreted the name as another name, the changes are undone.
    if ($script:GatewayUndo.Count -eq 0 -or $_.FullyQualifiedErrorId -eq 'Gateway.unprocessable') { throw }
    Add-GatewayFailure -Record $_ -Guid '' -Dn $place.fqdn
}
Complete-GatewayChange -Effect $effect

# Report.
$after = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
$set = @(Select-GatewayRecord -Record $after -Type $Type)
$report = ConvertTo-GatewayRecordSet -Record $set -ZoneName $place.name
if ($effect -eq 'created') { Add-GatewayCreated -Image @{ records = @(ConvertTo-GatewayRecord -Record $set -ZoneName $place.name) } }
Add-GatewayLoss -Fqdn $place.fqdn -Before $before -After $after -Removed $plan.removed
Add-GatewayChange -Dn $place.fqdn -Before $was -After $report
$report
