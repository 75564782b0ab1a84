# Restores a deleted object from the Recycle Bin. With Recursive, it also restores the objects below it that
# were deleted with it.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Guid,
    [AllowNull()] [string] $OUPath,
    [AllowNull()] [string] $NewName,
    [bool] $Recursive = $false,
    [bool] $Disabled = $true,
    [bool] $Protect = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $RemovedTogether, # GUIDs; empty: those deleted at the same time
    [AllowNull()] [AllowEmptyCollection()] [string[]] $ProtectedTogether, # GUIDs of objects to protect again
    [Parameter(Mandatory)] [int] $BulkLimit,
    [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $CreatableType,
    [Parameter(Mandatory)] [string[]] $UserField,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$known = @{}
$object = Find-GatewayDeleted -Guid $Guid -Known $known -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server
$guid = [string]$object.ObjectGUID
$former = Get-GatewayFormerName -Object $object
Set-GatewayStep -Label 'read optional feature' -Arg 'Guid'
if (-not (Test-GatewayBin -Server $Server) -or [string]$object.isRecycled -eq 'True') {
    $message = "'$former' cannot be restored: without the Recycle Bin, or after its time in it, a deleted object keeps " +
        'neither its password nor its names nor its memberships.'
    Stop-Gateway -Code 'not_undoable' -Arg 'Guid' -Message $message
}
$place = Find-GatewayRestorePlace -Object $object -OUPath $OUPath -AllowedOU $AllowedOU -Privileged $Privileged -Server $Server
$name = Get-GatewayReturnName -Object $object
if ($NewName) { $name = $NewName }
$dn = Get-GatewayRestoredDn -Object $object -Name $name -Parent $place
$below = @()
$protects = @(foreach ($protected in $ProtectedTogether) { $protected })
if ($Protect) { $protects += @($guid) }
if ($Recursive) { $below = @(Get-GatewayDeletedBelow -Object $object -Among $RemovedTogether -Most $BulkLimit -Server $Server) }

# Guard.
foreach ($item in @($object) + $below) {
    $limits = @{ CreatableType = $CreatableType; AllowedGroup = $AllowedGroup }
    Assert-GatewayRestorable -Object $item -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server @limits
}
$names = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
Assert-GatewayNameFree -Account ([string]$object.sAMAccountName) -Principal ([string]$object.userPrincipalName) -Arg 'Guid' @names
$argument = 'Guid'
if ($NewName) { $argument = 'NewName' }
Assert-GatewayNameFree -Name $name -Parent $place -Arg $argument @names

# Announce.
New-GatewayRestoreIntent -Object $object -Dn $dn -Name $name -Parent $place -Disabled $Disabled
if (Test-GatewayListed -Value $guid -List $protects) { Add-GatewayIntent -Name 'protected' -Before '' -After 'True' }
$restoredDns = @{ $guid = $dn }
foreach ($item in $below) {
    $parent = [string]$restoredDns[(Get-GatewayDeletedGuid -Dn ([string]$item.lastKnownParent))]
    $itemName = Get-GatewayReturnName -Object $item
    $restoredDns[[string]$item.ObjectGUID] = Get-GatewayRestoredDn -Object $item -Name $itemName -Parent $parent
    New-GatewayRestoreIntent -Object $item -Dn ([string]$item.DistinguishedName) -Name $itemName -Parent $parent -Disabled $Disabled
    if (Test-GatewayListed -Value ([string]$item.ObjectGUID) -List $protects) { Add-GatewayIntent -Name 'protected' -Before '' -After 'True' }
}
$script:GatewayCounts['objects'] = [int](1 + $below.Length)
Write-GatewayIntent -Effect 'changed'

# Act: restore the object itself. It has its old state until the next step (facts R4).
$renamed = @{}
if (-not $name.Equals($former, [System.StringComparison]::Ordinal)) { $renamed['NewName'] = $name }
Set-GatewayStep -Label 'restore object' -Arg 'Guid'
Restore-ADObject -Identity $guid -TargetPath $place -Server $Server -Confirm:$false @renamed
Complete-GatewayStep -Label 'restore object' -Guid $guid -Dn $dn
if (Test-GatewayDisabling -Object $object -Disabled $Disabled) {
    Set-GatewayStep -Label 'disable account' -Arg 'Disabled'
    Disable-ADAccount -Identity $guid -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'disable account' -Guid $guid -Dn $dn
}
if (Test-GatewayListed -Value $guid -List $protects) {
    Set-GatewayProtection -Guid $guid -Protected $true -Label 'set protection' -Dn $dn -Arg 'Protect' -ForGood -Server $Server
}
Complete-GatewayChange -Effect 'changed'

# Act: restore the objects below it, parents first. If one cannot be restored, the failure is reported and the
# script continues.
$restored = [System.Collections.Generic.List[string]]::new()
$restored.Add($guid)
$places = @{}
foreach ($item in $below) {
    $child = [string]$item.ObjectGUID
    $childDn = [string]$item.DistinguishedName
    Set-GatewayStep -Label 'restore below' -Arg 'Recursive'
    try {
        $parent = Get-GatewayDeletedGuid -Dn ([string]$item.lastKnownParent)
        if (-not $places.ContainsKey($parent)) { $places[$parent] = [string](Get-ADObject -Identity $parent -Server $Server).DistinguishedName }
        $renamed = @{}
        $itemName = Get-GatewayReturnName -Object $item
        if (-not $itemName.Equals((Get-GatewayFormerName -Object $item), [System.StringComparison]::Ordinal)) { $renamed['NewName'] = $itemName }
        Restore-ADObject -Identity $child -TargetPath $places[$parent] -Server $Server -Confirm:$false @renamed
        Complete-GatewayStep -Label 'restore below' -Guid $child -Dn $childDn
        $restored.Add($child)
        if (Test-GatewayDisabling -Object $item -Disabled $Disabled) {
            Set-GatewayStep -Label 'disable below' -Arg 'Disabled'
            Disable-ADAccount -Identity $child -Server $Server -Confirm:$false
            Complete-GatewayStep -Label 'disable below' -Guid $child -Dn $childDn
        }
        if (Test-GatewayListed -Value $child -List $protects) {
            Set-GatewayProtection -Guid $child -Protected $true -Label 'protect below' -Dn $childDn -Arg 'Protect' -ForGood -Server $Server
        }
    } catch {
        Add-GatewayFailure -Record $_ -Guid $child -Dn $childDn
    }
}
$script:GatewayCounts['objects'] = [int]$restored.Count
Set-GatewayStep -Label 'report'

# Report.
foreach ($record in @(ConvertTo-GatewayRestored -Guid $restored.ToArray() -UserField $UserField -AllowedOU $AllowedOU -Server $Server)) {
    $at = [string]$record['distinguishedName']
    if ($record['restoredAs'] -eq 'ou') { $at = [string]$record['path'] }
    Add-GatewayChange -Guid ([string]$record['guid']) -Dn $at -Before $null -After $record
    $record
}
