# Functions for changes of many record sets at once.

# Splits an item of Change. If no zone of this server contains the name, the zone is '', and the text of the name
# decides whether the caller may use it.
function ConvertFrom-GatewayRecordChange {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Change,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Zone,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $parts = $Change.Split([char]29)
    $name = $parts[4]
    $holder = Find-GatewayZoneOfName -Name $name -ComputerName $ComputerName -Zone $Zone
    $held = $name
    $owner = ''
    if ($null -ne $holder) {
        $held = [string]$holder.ZoneName
        $owner = Get-GatewayRelativeName -Name ($name.TrimEnd([char]'.') + '.') -ZoneName $held
    }
    $data = [string[]]@(for ($i = 5; $i -lt $parts.Length; $i++) { $parts[$i] })
    @{
        adds   = [bool]($parts[0] -eq 'add')
        clears = [bool]($parts[0] -eq 'clear')
        number = [int]$parts[1]
        type   = $parts[2]
        ttl    = [int]$parts[3]
        name   = $name
        zone   = $held
        owner  = $owner
        data   = $data
    }
}

# Returns the set that a change leaves, in the form in which the audit shows it.
function ConvertTo-GatewaySetReport {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [object[]] $Record, [Parameter(Mandatory)] [string] $Type)
    $data = [string[]]@(foreach ($item in $Record) { [string](@(Get-GatewayRecordField -Record $item) -join ' ') })
    if ($data.Length -eq 0) { return $null }
    [ordered]@{ type = $Type; data = $data; ttl = [long]@($Record)[0].TimeToLive.TotalSeconds }
}

# Refuses a change that removes a set completely, unless all its values are cleared and the set may be removed.
function Assert-GatewaySetStays {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Set,
        [Parameter(Mandatory)] [bool] $Removable
    )
    if (-not $Set.values[0].clears) {
        $message = "None of the values that are to stay in the set of '$($Set.name)' is there, so that it would be gone. It was not changed."
        Stop-Gateway -Code 'conflict' -Arg 'Change' -Message $message
    }
    if (-not $Removable) {
        $message = 'As many sets were removed as one request may (limits.bulkDelete), or as the credential may in this hour. The next loop removes this one.'
        Stop-Gateway -Code 'conflict' -Arg 'Change' -Message $message
    }
}

# Changes one set and returns its values before and after, or nothing if they are the same. New values are added
# before old ones are removed. If a name can have only one record of the type, its value is changed in place.
function Update-GatewayRecordSet {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Set,
        [Parameter(Mandatory)] [bool] $Removable,
        [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $type = $Set.type
    $place = @{ name = $Set.zone; owner = $Set.values[0].owner; fqdn = $Set.name }
    if ($place.owner -eq '') { Stop-Gateway -Code 'not_found' -Message "No zone of this DNS server that can be written holds the name '$($Set.name)'." }
    Assert-GatewayName -Name $Set.name -Arg 'Change' -KnownController $KnownController -GuardedName $GuardedName -Privileged $Privileged
    Set-GatewayStep -Label 'read name' -Arg 'Change'
    $node = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
    $present = @(Select-GatewayRecord -Record $node -Type $type)
    $before = ConvertTo-GatewaySetReport -Record $present -Type $type
    $missing = [System.Collections.Generic.List[object]]::new()
    $surplus = [System.Collections.Generic.List[object]]::new()
    $later = [System.Collections.Generic.List[object]]::new()
    foreach ($value in $Set.values) {
        if ($GatewayRecordTypes[$type].reverse -and $value.adds) {
            Assert-GatewayReverseTarget -Data $value.data -KnownController $KnownController -GuardedName $GuardedName -Privileged $Privileged
        }
        $same = @(Select-GatewayRecord -Record $node -Type $type -Data $value.data)
        if ($value.adds -and $same.Length -eq 0) { $missing.Add($value) }
        if ($value.adds -and $same.Length -gt 0) { $later.Add(@{ record = $same[0]; seconds = $value.ttl }) }
        if (-not $value.adds -and $same.Length -gt 0) { $surplus.Add($same[0]) }
    }
    if ($missing.Count -gt 0) {
        Assert-GatewayUndelegated -Place $place -ComputerName $ComputerName
        $staying = @(foreach ($record in $node) {
                $goes = $false
                foreach ($value in $Set.values) {
                    if (-not $value.adds -and @(Select-GatewayRecord -Record @($record) -Type $type -Data $value.data).Length -gt 0) { $goes = $true }
                }
                if (-not $goes) { $record }
            })
        foreach ($value in $missing) { Assert-GatewayFree -Place $place -Type $type -Data $value.data -Present $staying }
    }
    $changed = $missing.Count + $surplus.Count
    if ($surplus.Count -gt 0 -and $present.Length + $missing.Count -le $surplus.Count) { Assert-GatewaySetStays -Set $Set -Removable $Removable }
    if ($GatewayRecordTypes[$type].alone -and $missing.Count -eq 1 -and $surplus.Count -eq 1) {
        $new = $missing[0]
        Set-GatewayRecordValue -ZoneName $place.name -Record $surplus[0] -Data $new.data -TimeToLive $new.ttl -ComputerName $ComputerName
    } else {
        foreach ($value in $missing) {
            Add-GatewayRecordValue -ZoneName $place.name -Owner $place.owner -Type $type -Data $value.data -TimeToLive $value.ttl -ComputerName $ComputerName
        }
        foreach ($record in $surplus) { Remove-GatewayRecordValue -ZoneName $place.name -Record $record -ComputerName $ComputerName }
    }
    foreach ($item in $later) {
        if ($item.seconds -lt 0 -or $null -ne $item.record.Timestamp -or [long]$item.record.TimeToLive.TotalSeconds -eq $item.seconds) { continue }
        $kept = $null
        if ($GatewayRecordTypes[$type].address) {
            $kept = Find-GatewayPointer -Address @(Get-GatewayRecordField -Record $item.record)[0] -Fqdn $place.fqdn -ComputerName $ComputerName
        }
        Set-GatewayRecordValue -ZoneName $place.name -Record $item.record -TimeToLive $item.seconds -ComputerName $ComputerName
        Restore-GatewayPointer -Pointer @($kept) -ComputerName $ComputerName
        $changed++
    }
    if ($changed -eq 0) { return $null }
    Set-GatewayStep -Label 'read name' -Arg 'Change'
    $node = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
    @{ before = $before; after = (ConvertTo-GatewaySetReport -Record @(Select-GatewayRecord -Record $node -Type $type) -Type $type) }
}
