# Functions shared by the scripts that change records: guards, announcements, steps, PTR records.

# Refuses a zone whose records cannot be changed.
function Assert-GatewayRecordZone {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Zone)
    $name = [string]$Zone.ZoneName
    if ([bool]$Zone.IsAutoCreated -or $name -eq 'TrustAnchors') {
        Stop-Gateway -Code 'protected' -Arg 'ZoneName' -Message "The zone '$name' belongs to the DNS server itself."
    }
    if ([string]$Zone.ZoneType -ne 'Primary') {
        Stop-Gateway -Code 'conflict' -Arg 'ZoneName' -Message "The zone '$name' is not a primary zone of this server, so its records cannot be changed."
    }
}

# Refuses PTR records that lead to domain controllers, or to names in GuardedName, unless the caller is privileged.
function Assert-GatewayReverseTarget {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $KnownController,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedName,
        [Parameter(Mandatory)] [bool] $Privileged
    )
    if ($Privileged) { return }
    foreach ($target in @($Data)) {
        if (-not $target) { continue }
        $why = Get-GatewayTargetReason -Target $target -KnownController $KnownController -GuardedName $GuardedName
        if ($why -ne '') { Stop-GatewayGuarded -Target $target -Arg 'Data' -Why $why }
    }
}

# Refuses names at and below a delegation, and below a DNAME.
function Assert-GatewayUndelegated {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Place, [Parameter(Mandatory)] [string] $ComputerName)
    Set-GatewayStep -Label 'check delegations' -Arg 'Name'
    foreach ($record in @(Get-DnsServerResourceRecord -ZoneName $Place.name -RRType 'Ns' -ComputerName $ComputerName)) {
        $cut = Get-GatewayRecordOwner -Record $record -ZoneName $Place.name
        if ($cut -eq '@') { continue }
        if (('.' + $Place.owner).EndsWith('.' + $cut, [System.StringComparison]::OrdinalIgnoreCase)) {
            $message = "The name '$($Place.owner)' lies at or below the delegation of '$cut' in the zone '$($Place.name)'; other servers have its records."
            Stop-Gateway -Code 'conflict' -Arg 'Name' -Message $message
        }
    }
    foreach ($record in @(Get-DnsServerResourceRecord -ZoneName $Place.name -RRType 'DName' -ComputerName $ComputerName)) {
        $tree = Get-GatewayRecordOwner -Record $record -ZoneName $Place.name
        if ($tree -eq '@') { $tree = $Place.name } else { $tree = $tree + '.' + $Place.name }
        if ($Place.fqdn.EndsWith('.' + $tree, [System.StringComparison]::OrdinalIgnoreCase)) {
            $message = "The name '$($Place.owner)' lies below '$tree', whose DNAME record leads all names below it to another place."
            Stop-Gateway -Code 'conflict' -Arg 'Name' -Message $message
        }
    }
}

# Refuses a record that would redirect all names below its name, if there are any.
function Assert-GatewayNoTree {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Place, [Parameter(Mandatory)] [string] $Type, [Parameter(Mandatory)] [string] $ComputerName)
    if (-not $GatewayRecordTypes[$Type].tree) { return }
    Set-GatewayStep -Label 'check names below' -Arg 'Name'
    foreach ($record in @(Get-DnsServerResourceRecord -ZoneName $Place.name -ComputerName $ComputerName)) {
        $owner = Get-GatewayRecordOwner -Record $record -ZoneName $Place.name
        if ($owner -eq '@' -or -not ($Place.owner -eq '@' -or $owner.EndsWith('.' + $Place.owner, [System.StringComparison]::OrdinalIgnoreCase))) { continue }
        $message = "The zone '$($Place.name)' has records below '$($Place.owner)', at '$owner': a $Type leads all names below it elsewhere."
        Stop-Gateway -Code 'conflict' -Arg 'Name' -Message $message
    }
}

# Refuses a new value that cannot coexist with the records at its name, or that already exists.
function Assert-GatewayFree {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Place,
        [Parameter(Mandatory)] [string] $Type,
        [Parameter(Mandatory)] [string[]] $Data,
        [AllowNull()] [AllowEmptyCollection()] [object[]] $Present
    )
    $owner = $Place.owner
    if ($GatewayRecordTypes[$Type].alone) {
        if ($owner -eq '@') {
            Stop-Gateway -Code 'unprocessable' -Arg 'Name' -Message "A $Type cannot stand at the root of a zone, beside its SOA and NS records."
        }
        if ([string]::Equals($Place.fqdn, $Data[0], [System.StringComparison]::OrdinalIgnoreCase)) {
            Stop-Gateway -Code 'unprocessable' -Arg 'Data' -Message "The $Type '$owner' would point to itself."
        }
    }
    foreach ($record in $Present) {
        $there = Get-GatewayRecordKind -Record $record
        if ($GatewayRecordTypes[$Type].alone) {
            $message = "The name '$owner' already has records ($there) in the zone '$($Place.name)'; a $Type must be alone."
            Stop-Gateway -Code 'conflict' -Arg 'Name' -Message $message
        }
        if ($null -ne $GatewayRecordTypes[$there] -and $GatewayRecordTypes[$there].alone) {
            Stop-Gateway -Code 'conflict' -Arg 'Name' -Message "The name '$owner' has a $there record in the zone '$($Place.name)', which must be alone."
        }
    }
    if (@(Select-GatewayRecord -Record $Present -Type $Type -Data $Data).Length -gt 0) {
        Stop-Gateway -Code 'conflict' -Arg 'Data' -Message "The name '$owner' already has this $Type record in the zone '$($Place.name)'."
    }
}

# Refuses to change a record that belongs to dynamic update.
function Assert-GatewayStatic {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Record, [Parameter(Mandatory)] [bool] $MakeStatic)
    if ($MakeStatic) { return }
    foreach ($item in $Record) {
        if ($null -eq $item.Timestamp) { continue }
        $message = 'The record belongs to dynamic update: a change makes it static, so that it is never scavenged. Allow that with MakeStatic=true.'
        Stop-Gateway -Code 'conflict' -Arg 'MakeStatic' -Message $message
    }
}

# Returns the key of a value in announcements and in the state that settles them.
function Get-GatewayRecordKey {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Fqdn,
        [Parameter(Mandatory)] [string] $Type,
        [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data
    )
    $forms = @(foreach ($field in $GatewayRecordTypes[$Type].fields) { [string]$field.form })
    $key = $Fqdn.ToLowerInvariant() + ' ' + $Type
    for ($i = 0; $i -lt $Data.Length; $i++) {
        $text = $Data[$i]
        if ($i -lt $forms.Length -and $forms[$i] -eq 'name') { $text = $text.ToLowerInvariant() }
        $key += ' ' + $text
    }
    $key
}

# Returns whether two lists contain exactly the same texts in the same order.
function Test-GatewaySameText {
    [CmdletBinding()]
    param(
        [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $One,
        [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Other
    )
    if (-not ([int]@($One).Length -eq [int]@($Other).Length)) { return $false }
    for ($i = 0; $i -lt @($One).Length; $i++) { if (-not @($One)[$i].Equals(@($Other)[$i])) { return $false } }
    $true
}

# Returns whether a text is exactly one of several texts.
function Test-GatewayListed {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyString()] [string] $Text, [AllowNull()] [object] $List)
    foreach ($item in $List) { if ($Text.Equals([string]$item)) { return $true } }
    $false
}

# Returns the keys of the records of one name.
function Get-GatewayNodeKey {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Fqdn, [AllowNull()] [AllowEmptyCollection()] [object[]] $Record)
    foreach ($item in $Record) {
        if ($null -eq $item) { continue }
        Get-GatewayRecordKey -Fqdn $Fqdn -Type (Get-GatewayRecordKind -Record $item) -Data @(Get-GatewayRecordField -Record $item)
    }
}

# Announces that a value is added or removed.
function Add-GatewayValueIntent {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Fqdn,
        [Parameter(Mandatory)] [string] $Type,
        [Parameter(Mandatory)] [AllowEmptyString()] [string[]] $Data,
        [Parameter(Mandatory)] [bool] $Before,
        [Parameter(Mandatory)] [bool] $After
    )
    Add-GatewayIntent -Name (Get-GatewayRecordKey -Fqdn $Fqdn -Type $Type -Data $Data) -Before ([string]$Before) -After ([string]$After)
}

# Ends a request if the server has interpreted its name as another name, so that the changes are undone.
function Stop-GatewayOtherName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Named,
        [Parameter(Mandatory)] [string] $Changed,
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Arg
    )
    $full = Get-GatewayFullName -Owner $Named -ZoneName $ZoneName
    $other = Get-GatewayFullName -Owner $Changed -ZoneName $ZoneName
    Stop-Gateway -Code 'unprocessable' -Arg $Arg -Message "The server took the name '$full.' for '$other.', so that the change was taken back."
}

# Refuses a value that a server has written at a name other than the guarded one.
function Assert-GatewayWritten {
    [CmdletBinding()]
    param(
        [AllowNull()] [object] $Record,
        [Parameter(Mandatory)] [string] $Owner,
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Arg
    )
    if ($null -eq $Record -or (Test-GatewayOwner -Record $Record -Owner $Owner -ZoneName $ZoneName)) { return }
    $there = Get-GatewayRecordOwner -Record $Record -ZoneName $ZoneName
    Stop-GatewayOtherName -Named $Owner -Changed $there -ZoneName $ZoneName -Arg $Arg
}

# Returns a copy of a record, which can be changed without changing the record (facts NA19).
function Copy-GatewayInstance {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Instance)
    [ciminstance]::new($Instance)
}

# Returns a record in the form for cmdlets that take a record. Its name can be read in one way only.
function Get-GatewayClearRecord {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record, [Parameter(Mandatory)] [string] $ZoneName)
    $owner = Get-GatewayRecordOwner -Record $Record -ZoneName $ZoneName
    if (-not (Test-GatewayNested -Owner $owner -ZoneName $ZoneName)) { return $Record }
    $clear = Copy-GatewayInstance -Instance $Record
    $clear.HostName = (Get-GatewayClearName -Owner $owner -ZoneName $ZoneName)
    $clear
}

# Adds a record with its earlier properties. NS records belong to the zone itself, because others belong to
# delegations.
function Restore-GatewayRecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [AllowNull()] [AllowEmptyCollection()] [object[]] $Record,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    foreach ($item in $Record) {
        $again = @{
            ZoneName = $ZoneName; Owner = (Get-GatewayRecordOwner -Record $item -ZoneName $ZoneName); ComputerName = $ComputerName
            Type = (Get-GatewayRecordKind -Record $item); Data = @(Get-GatewayRecordField -Record $item)
            TimeToLive = [int]$item.TimeToLive.TotalSeconds; Age = $null -ne $item.Timestamp
        }
        if ($again.Type -eq 'NS') {
            $server = @{ NameServer = $again.Data[0]; TimeToLive = $again.TimeToLive; ComputerName = $ComputerName }
            Add-GatewayNameServer -ZoneName $ZoneName @server
        } else {
            Add-GatewayTypedRecord @again
        }
    }
}

# Returns the names for which a server could mistake a name, relative to the zone, and their records.
function Get-GatewayOtherNode {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Owner,
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    while (Test-GatewayNested -Owner $Owner -ZoneName $ZoneName) {
        $Owner = Get-GatewayRelativeName -Name $Owner -ZoneName $ZoneName
        $there = @(Get-GatewayNode -ZoneName $ZoneName -Owner $Owner -ComputerName $ComputerName)
        @{ owner = $Owner; records = $there }
    }
}

# Returns the records of names that have since disappeared.
function Get-GatewayLostRecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [AllowNull()] [AllowEmptyCollection()] [object[]] $Node,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    foreach ($item in $Node) {
        $fqdn = Get-GatewayFullName -Owner $item.owner -ZoneName $ZoneName
        $present = @(Get-GatewayNode -ZoneName $ZoneName -Owner $item.owner -ComputerName $ComputerName)
        $keys = @(Get-GatewayNodeKey -Fqdn $fqdn -Record $present)
        foreach ($record in $item.records) {
            $key = @(Get-GatewayNodeKey -Fqdn $fqdn -Record @($record))[0]
            if ($GatewayRecordTypes[(Get-GatewayRecordKind -Record $record)].writable -and -not (Test-GatewayListed -Text $key -List $keys)) { $record }
        }
    }
}

# Removes a text of which the module shows only the first string, or which it cannot write. Because the module does
# not find such a record by its object (facts NA10), the text is removed by its name and type, together with all
# other texts of the name.
function Remove-GatewayPartlyShown {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Owner,
        [Parameter(Mandatory)] [bool] $Whole,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $texts = @(Select-GatewayRecord -Record @(Get-GatewayNode -ZoneName $ZoneName -Owner $Owner -ComputerName $ComputerName) -Type 'TXT')
    if ($texts.Length -eq 0) { return } # already removed together with another record
    if ($texts.Length -gt 1 -and -not $Whole) {
        $message = 'Windows shows the first string of this text only, and so does not find it beside others. Remove the whole set of the name.'
        Stop-Gateway -Code 'conflict' -Arg 'Name' -Message $message
    }
    $name = Get-GatewayClearName -Owner $Owner -ZoneName $ZoneName
    Remove-DnsServerResourceRecord -ZoneName $ZoneName -Name $name -RRType 'Txt' -ComputerName $ComputerName -Force -Confirm:$false
    $message = 'The record had more strings than the one that Windows shows, which is all that an undo brings back.'
    Add-GatewayWarning -Code 'text_partly_shown' -Target (Get-GatewayFullName -Owner $Owner -ZoneName $ZoneName) -Message $message
}

# Removes exactly one record object, and no other record of the name (facts E60). If a server could read the name in
# another way, the records at the other name are compared before and afterwards. If the server has removed one of
# those instead, it is restored and the request ends. Whole means that all records of the type are removed.
function Remove-GatewayRecordObject {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [object] $Record,
        [string] $Arg = 'Name',
        [bool] $Whole = $false,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $owner = Get-GatewayRecordOwner -Record $Record -ZoneName $ZoneName
    $others = @(Get-GatewayOtherNode -Owner $owner -ZoneName $ZoneName -ComputerName $ComputerName)
    $clear = Get-GatewayClearRecord -Record $Record -ZoneName $ZoneName
    try {
        Remove-DnsServerResourceRecord -ZoneName $ZoneName -InputObject $clear -ComputerName $ComputerName -Force -Confirm:$false
    } catch {
        if (@('9701', '9714', '87') -notcontains (Get-GatewayErrorCode -Record $_) -or (Get-GatewayRecordKind -Record $Record) -ne 'TXT') { throw }
        Remove-GatewayPartlyShown -ZoneName $ZoneName -Owner $owner -Whole $Whole -ComputerName $ComputerName
    }
    $lost = @(Get-GatewayLostRecord -ZoneName $ZoneName -Node $others -ComputerName $ComputerName)
    if ($lost.Length -eq 0) { return }
    $there = Get-GatewayRecordOwner -Record $lost[0] -ZoneName $ZoneName
    $restore = {
        param($ZoneName, $Record, $ComputerName)
        Restore-GatewayRecord -ZoneName $ZoneName -Record $Record -ComputerName $ComputerName
    }
    $arguments = @{ ZoneName = $ZoneName; Record = $lost; ComputerName = $ComputerName }
    Complete-GatewayStep -Label 'remove record' -Dn (Get-GatewayFullName -Owner $there -ZoneName $ZoneName) -Undo $restore -Arguments $arguments
    Stop-GatewayOtherName -Named $owner -Changed $there -ZoneName $ZoneName -Arg $Arg
}

# Adds one value. The undo removes it.
function Add-GatewayRecordValue {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [string] $Owner,
        [Parameter(Mandatory)] [string] $Type,
        [Parameter(Mandatory)] [string[]] $Data,
        [int] $TimeToLive = -1,
        [string] $Arg = 'Name',
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $others = @(Get-GatewayOtherNode -Owner $Owner -ZoneName $ZoneName -ComputerName $ComputerName)
    Set-GatewayStep -Label 'create record' -Arg $Arg
    $created = @(Add-GatewayTypedRecord -ZoneName $ZoneName -Owner $Owner -Type $Type -Data $Data -TimeToLive $TimeToLive -ComputerName $ComputerName)[0]
    $remove = {
        param($ZoneName, $Record, $Others, $ComputerName)
        Remove-GatewayRecordObject -ZoneName $ZoneName -Record $Record -ComputerName $ComputerName
        $lost = @(Get-GatewayLostRecord -ZoneName $ZoneName -Node $Others -ComputerName $ComputerName)
        Restore-GatewayRecord -ZoneName $ZoneName -Record $lost -ComputerName $ComputerName
    }
    $arguments = @{ ZoneName = $ZoneName; Record = $created; Others = $others; ComputerName = $ComputerName }
    Complete-GatewayStep -Label 'create record' -Dn (Get-GatewayFullName -Owner $Owner -ZoneName $ZoneName) -Undo $remove -Arguments $arguments
    Assert-GatewayWritten -Record $created -Owner $Owner -ZoneName $ZoneName -Arg $Arg
}

# Removes one value. The undo adds it again.
function Remove-GatewayRecordValue {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [object] $Record,
        [bool] $Whole = $false,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    Set-GatewayStep -Label 'remove record' -Arg 'Name'
    Remove-GatewayRecordObject -ZoneName $ZoneName -Record $Record -Whole $Whole -ComputerName $ComputerName
    $restore = {
        param($ZoneName, $Record, $ComputerName)
        Restore-GatewayRecord -ZoneName $ZoneName -Record @($Record) -ComputerName $ComputerName
    }
    $arguments = @{ ZoneName = $ZoneName; Record = $Record; ComputerName = $ComputerName }
    $dn = Get-GatewayFullName -Owner (Get-GatewayRecordOwner -Record $Record -ZoneName $ZoneName) -ZoneName $ZoneName
    Complete-GatewayStep -Label 'remove record' -Dn $dn -Undo $restore -Arguments $arguments
}

# Changes a record in place: its time to live, or the value of a type that must be alone at its name. The stamp of a
# dynamic record is lost (facts NA20). If TimeToLive is below 0 or Data is absent, that property is not changed.
function Set-GatewayRecordValue {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ZoneName,
        [Parameter(Mandatory)] [object] $Record,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $Data,
        [int] $TimeToLive = -1,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    Set-GatewayStep -Label 'change record' -Arg 'Name'
    $owner = Get-GatewayRecordOwner -Record $Record -ZoneName $ZoneName
    $old = Get-GatewayClearRecord -Record $Record -ZoneName $ZoneName
    $others = @(Get-GatewayOtherNode -Owner $owner -ZoneName $ZoneName -ComputerName $ComputerName)
    $new = Copy-GatewayInstance -Instance $old
    if ($TimeToLive -ge 0) { $new.TimeToLive = [timespan]::new([long]$TimeToLive * 10000000) }
    if (@($Data).Length -gt 0 -and $null -ne $Data) { Set-GatewayTypedData -Record $new -Data $Data }
    $change = @{ ZoneName = $ZoneName; OldInputObject = $old; NewInputObject = $new; ComputerName = $ComputerName; PassThru = $true; Confirm = $false }
    try {
        $changed = @(Set-DnsServerResourceRecord @change)[0]
    } catch {
        if (@('9701', '87') -notcontains (Get-GatewayErrorCode -Record $_) -or (Get-GatewayRecordKind -Record $Record) -ne 'TXT') { throw }
        $message = 'Windows shows the first string of this text only, and so does not find it to change it. Remove it, and create it again.'
        Stop-Gateway -Code 'conflict' -Arg 'Name' -Message $message
    }
    $restore = {
        param($ZoneName, $Old, $New, $Others, $ComputerName)
        $from = Get-GatewayClearRecord -Record $New -ZoneName $ZoneName
        $back = $Old
        foreach ($item in $Others) {
            if (-not (Test-GatewayOwner -Record $New -Owner $item.owner -ZoneName $ZoneName)) { continue }
            $data = @(Get-GatewayRecordField -Record $Old)
            foreach ($record in @(Select-GatewayRecord -Record $item.records -Type (Get-GatewayRecordKind -Record $Old) -Data $data)) { $back = $record }
        }
        Set-DnsServerResourceRecord -ZoneName $ZoneName -OldInputObject $from -NewInputObject $back -ComputerName $ComputerName -Confirm:$false
    }
    $arguments = @{ ZoneName = $ZoneName; Old = $old; New = $changed; Others = $others; ComputerName = $ComputerName }
    Complete-GatewayStep -Label 'change record' -Dn (Get-GatewayFullName -Owner $owner -ZoneName $ZoneName) -Undo $restore -Arguments $arguments
    Assert-GatewayWritten -Record $changed -Owner $owner -ZoneName $ZoneName -Arg 'Name'
}

# Returns the PTR record that leads from an address to a name, with the reverse zone and the owner name in it.
# Returns nothing if this server has no reverse zone for the address. Limited is set for a change that the caller
# has requested.
function Find-GatewayPointer {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Address,
        [Parameter(Mandatory)] [string] $Fqdn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [string] $Arg,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $name = Get-GatewayReverseName -Address $Address
    $zone = Find-GatewayZoneOfName -Name $name -ComputerName $ComputerName
    if ($null -eq $zone) { return }
    $text = [string]$zone.ZoneName
    if (-not (Test-GatewayAllowedZone -ZoneName $text -AllowedZone $AllowedZone)) {
        Stop-Gateway -Code 'limit' -Arg $Arg -Message "The reverse zone '$text' is outside the zones that the caller is limited to."
    }
    Set-GatewayStep -Label 'find PTR record' -Arg $Arg
    $owner = Get-GatewayRelativeName -Name ($name + '.') -ZoneName $text
    $present = @(Get-GatewayNode -ZoneName $text -Owner $owner -ComputerName $ComputerName)
    @{
        name    = $text
        owner   = $owner
        fqdn    = $name
        target  = $Fqdn
        present = $present
        record  = @(Select-GatewayRecord -Record $present -Type 'PTR' -Data @($Fqdn))[0]
    }
}

# Returns the place of a PTR record to be created with an address, or nothing if the record already exists. This is
# determined before anything is changed.
function Resolve-GatewayNewPointer {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Address,
        [Parameter(Mandatory)] [string] $Fqdn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
        [Parameter(Mandatory)] [string] $ComputerName
    )
    $pointer = Find-GatewayPointer -Address $Address -Fqdn $Fqdn -AllowedZone $AllowedZone -Arg 'CreatePtr' -ComputerName $ComputerName
    if ($null -eq $pointer) {
        $message = "This server has no primary reverse zone that holds $Address, so no PTR record can be created."
        Stop-Gateway -Code 'unprocessable' -Arg 'CreatePtr' -Message $message
    }
    if ($null -ne $pointer.record) { return }
    foreach ($record in $pointer.present) {
        $there = Get-GatewayRecordKind -Record $record
        $text = @(Get-GatewayRecordField -Record $record) -join ' '
        $message = "The address $Address already has the $there record '$text' in the zone '$($pointer.name)'."
        Stop-Gateway -Code 'conflict' -Arg 'CreatePtr' -Message $message
    }
    Assert-GatewayUndelegated -Place $pointer -ComputerName $ComputerName
    $pointer
}

# Restores PTR records that the server has removed during a change of their addresses (facts NA21).
function Restore-GatewayPointer {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [object[]] $Pointer, [Parameter(Mandatory)] [string] $ComputerName)
    foreach ($item in $Pointer) {
        if ($null -eq $item -or $null -eq $item.record) { continue }
        $present = @(Get-GatewayNode -ZoneName $item.name -Owner $item.owner -ComputerName $ComputerName)
        if (@(Select-GatewayRecord -Record $present -Type 'PTR' -Data @($item.target)).Length -gt 0) { continue }
        Set-GatewayStep -Label 'restore PTR record' -Arg 'Name'
        $again = @{
            ZoneName = $item.name; Owner = $item.owner; Type = 'PTR'; Data = @($item.target)
            TimeToLive = [int]$item.record.TimeToLive.TotalSeconds; ComputerName = $ComputerName
        }
        Add-GatewayTypedRecord @again | Out-Null
        Complete-GatewayStep -Label 'restore PTR record' -Dn $item.fqdn
        Add-GatewayWarning -Code 'ptr_restored' -Target $item.fqdn -Message 'The change had removed the PTR record of the address; it was put back.'
    }
}

# Reports records of a name that have disappeared although no request removed them (facts NB1, NA22). Removed
# contains the keys of the records that were removed on purpose. A type without operations, such as SOA, changes by
# itself.
function Add-GatewayLoss {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Fqdn,
        [AllowNull()] [AllowEmptyCollection()] [object[]] $Before,
        [AllowNull()] [AllowEmptyCollection()] [object[]] $After,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $Removed
    )
    $accounted = @($Removed) + @(Get-GatewayNodeKey -Fqdn $Fqdn -Record $After)
    $ours = @(foreach ($record in $Before) { if ($record -and $GatewayRecordTypes[(Get-GatewayRecordKind -Record $record)].writable) { $record } })
    foreach ($key in @(Get-GatewayNodeKey -Fqdn $Fqdn -Record $ours)) {
        if (Test-GatewayListed -Text $key -List $accounted) { continue }
        try {
            Stop-Gateway -Code 'conflict' -Message 'This record went at the same time, although the request did not ask for it.'
        } catch {
            Add-GatewayFailure -Record $_ -Guid '' -Dn $key
        }
    }
}

# Returns all records of a place and type. Ends the request if there are none.
function Get-GatewayRecordsOfType {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Place, [Parameter(Mandatory)] [string] $Type, [Parameter(Mandatory)] [string] $ComputerName)
    $present = @(Get-GatewayNode -ZoneName $Place.name -Owner $Place.owner -ComputerName $ComputerName)
    $records = @(Select-GatewayRecord -Record $present -Type $Type)
    if ($records.Length -eq 0) {
        Stop-Gateway -Code 'not_found' -Arg 'Name' -Message "There are no $Type records '$($Place.given)' in the zone '$($Place.name)'."
    }
    $records
}

# Returns the time to live of a set. It is the requested one or, without a request, the smallest one of the values
# that are kept, or of all values if none is kept. If there are no values, it is -1, which means the default of the
# zone.
function Get-GatewaySetTime {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Fqdn,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Record,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Kept,
        [Parameter(Mandatory)] [int] $TimeToLive
    )
    if ($TimeToLive -ge 0) { return $TimeToLive }
    $stays = -1
    $all = -1
    foreach ($item in $Record) {
        $seconds = [int]$item.TimeToLive.TotalSeconds
        if ($all -lt 0 -or $seconds -lt $all) { $all = $seconds }
        $key = @(Get-GatewayNodeKey -Fqdn $Fqdn -Record @($item))[0]
        if (-not (Test-GatewayListed -Text $key -List $Kept)) { continue }
        if ($stays -lt 0 -or $seconds -lt $stays) { $stays = $seconds }
    }
    if ($stays -ge 0) { return $stays }
    $all
}

# Returns the plan that gives the set of a place and type exactly the data of the place. It contains the steps in
# order (add, set, remove), the changes to announce, the new values, the records to change or remove, the existing
# records of the set, and those that remain.
function Get-GatewaySetPlan {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Place,
        [Parameter(Mandatory)] [string] $Type,
        [AllowNull()] [AllowEmptyCollection()] [object[]] $Present,
        [Parameter(Mandatory)] [int] $TimeToLive,
        [Parameter(Mandatory)] [bool] $MakeStatic
    )
    $size = $GatewayRecordTypes[$Type].fields.Length
    $alone = [bool]$GatewayRecordTypes[$Type].alone
    $mine = @(Select-GatewayRecord -Record $Present -Type $Type)
    $steps = [System.Collections.Generic.List[object]]::new()
    $later = [System.Collections.Generic.List[object]]::new()
    $changes = [System.Collections.Generic.List[object]]::new()
    $added = [System.Collections.Generic.List[object]]::new()
    $touched = [System.Collections.Generic.List[object]]::new()
    $removed = [System.Collections.Generic.List[string]]::new()
    $kept = [System.Collections.Generic.List[string]]::new()
    for ($i = 0; $i -lt $Place.data.Length; $i += $size) {
        $value = [string[]]@(for ($j = $i; $j -lt $i + $size; $j++) { $Place.data[$j] })
        $kept.Add((Get-GatewayRecordKey -Fqdn $Place.fqdn -Type $Type -Data $value))
    }
    $ttl = Get-GatewaySetTime -Fqdn $Place.fqdn -Record $mine -Kept $kept.ToArray() -TimeToLive $TimeToLive
    for ($i = 0; $i -lt $Place.data.Length; $i += $size) {
        $value = [string[]]@(for ($j = $i; $j -lt $i + $size; $j++) { $Place.data[$j] })
        $key = Get-GatewayRecordKey -Fqdn $Place.fqdn -Type $Type -Data $value
        $there = @(Select-GatewayRecord -Record $mine -Type $Type -Data $value)
        if ($there.Length -eq 0) {
            $added.Add($value)
            $changes.Add(@{ name = $key; before = 'False'; after = 'True' })
            if ($alone -and $mine.Length -gt 0) {
                $steps.Add(@{ action = 'set'; record = $mine[0]; data = $value; ttl = $ttl })
            } else {
                $steps.Add(@{ action = 'add'; data = $value; ttl = $ttl })
            }
            continue
        }
        $seconds = [int]$there[0].TimeToLive.TotalSeconds
        # A dynamic value keeps its time to live unless another one is requested, because a change would
        # make it static.
        $dynamic = $null -ne $there[0].Timestamp
        $differs = $seconds -ne $ttl -and ($TimeToLive -ge 0 -or $MakeStatic -or -not $dynamic)
        if ($differs -or ($MakeStatic -and $dynamic)) {
            $touched.Add($there[0])
            $later.Add(@{ action = 'set'; record = $there[0]; data = @(); ttl = $ttl })
            $changes.Add(@{ name = 'ttl ' + $key; before = [string]$seconds; after = [string]$ttl })
        }
    }
    foreach ($step in $later) { $steps.Add($step) }
    foreach ($record in $mine) {
        $key = @(Get-GatewayNodeKey -Fqdn $Place.fqdn -Record @($record))[0]
        if (Test-GatewayListed -Text $key -List $kept) { continue }
        if ($alone) { $touched.Add($record) } # this record is changed to the new value; all others are only removed
        $removed.Add($key)
        $changes.Add(@{ name = $key; before = 'True'; after = 'False' })
        if (-not $alone) { $steps.Add(@{ action = 'remove'; record = $record }) }
    }
    $beside = @(foreach ($record in $Present) {
            if (-not $alone -or @(Select-GatewayRecord -Record @($record) -Type $Type).Length -eq 0) { $record }
        })
    @{
        steps = $steps; changes = $changes; added = $added; touched = $touched.ToArray(); removed = $removed.ToArray()
        present = $mine; beside = $beside
    }
}
