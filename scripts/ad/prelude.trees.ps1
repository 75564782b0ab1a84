# Functions shared by the scripts that remove an object with all objects below it, or that lift protections.

# The call that lifts a protection, by the class of the object. It completes "Lift the protection first: ".
$GatewayProtectionCalls = @{
    user               = 'PUT /api/ADUser/{UserName}/Protection with IsProtected=false'
    inetOrgPerson      = 'PUT /api/ADUser/{UserName}/Protection with IsProtected=false'
    group              = 'PUT /api/ADGroups/{GroupName}/Protection with IsProtected=false'
    computer           = 'PUT /api/Computers/{ADComputerName}/Protection with IsProtected=false'
    organizationalUnit = 'PUT /api/OU with IsProtected=false'
}

# Returns whether the module itself refused an account that may not read or change access lists. Such an error has
# no number (facts E39). Errors of the web service without a number have the service's fault inside, and have other
# causes (facts D14).
function Test-GatewayRefusal {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Record)
    if ($Record.Exception.GetType().Name -ne 'ADException' -or [string]$Record.Exception.ErrorCode -ne '0') { return $false }
    $null -eq $Record.Exception.InnerException
}

# Sets or lifts the protection of an object as a step with an undo (facts E36-E41). An object that already reads as
# wanted is left unchanged, because the module would change nothing (facts E38). ForGood omits the undo, because the
# state before cannot be set again.
function Set-GatewayProtection {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [bool] $Protected,
        [Parameter(Mandatory)] [string] $Label,
        [string] $Dn,
        [string] $Arg,
        [switch] $ForGood,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label $Label -Arg $Arg
    $object = Get-ADObject -Identity $Guid -Properties 'ProtectedFromAccidentalDeletion' -Server $Server
    $now = $object.ProtectedFromAccidentalDeletion # $null if an access list cannot be read (facts E37)
    if ($null -ne $now -and [bool]$now -eq $Protected) { return }
    try {
        Set-ADObject -Identity $Guid -ProtectedFromAccidentalDeletion $Protected -Server $Server -Confirm:$false
    } catch {
        if (-not (Test-GatewayRefusal -Record $_)) { throw }
        $message = "The gateway's service account may not change the access lists of '$Dn' and its parent, " +
            'which the protection from accidental deletion is made of.'
        Stop-Gateway -Code 'directory_denied' -Arg $Arg -Message $message
    }
    $back = $null
    if (-not $ForGood) {
        $back = {
            param($Guid, $Protected, $Server)
            Set-ADObject -Identity $Guid -ProtectedFromAccidentalDeletion $Protected -Server $Server -Confirm:$false
        }
    }
    Complete-GatewayStep -Label $Label -Guid $Guid -Dn $Dn -Undo $back -Arguments @{ Guid = $Guid; Protected = (-not $Protected); Server = $Server }
}

# Lifts the half of a protection that an object has while its parent lacks the other half. The object reads as
# unprotected, so the module lifts nothing until the protection is complete (facts E37, E38). If a later step fails,
# the object is left with the whole protection and is reported as remaining, because half a protection cannot be
# set.
function Clear-GatewayHalfProtection {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [string] $Dn,
        [Parameter(Mandatory)] [string] $Arg,
        [Parameter(Mandatory)] [string] $Server
    )
    $target = @{ Guid = $Guid; Dn = $Dn; Arg = $Arg; Server = $Server }
    Set-GatewayProtection -Protected $true -Label 'complete protection' -ForGood @target
    Set-GatewayProtection -Protected $false -Label 'lift protection' @target
}

# Reports which objects of a tree are missing after the removal of the tree failed. The directory may have removed
# some (facts E44), which cannot be undone.
function Complete-GatewayLoss {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Object,
        [Parameter(Mandatory)] [string] $Server
    )
    $base = (Get-GatewayDomain -Server $Server).dn
    foreach ($item in $Object) {
        $guid = [string]$item.ObjectGUID
        $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$guid)) + ')'
        if (@(Get-GatewayObject -Class 'any' -Filter $filter -Base $base -Server $Server).Length -eq 0) {
            Complete-GatewayStep -Label 'removed below OU' -Guid $guid -Dn ([string]$item.DistinguishedName)
        }
    }
}

# Refuses to remove an object because objects lie below it.
function Assert-GatewayEmpty {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $What,
        [Parameter(Mandatory)] [bool] $Empty,
        [Parameter(Mandatory)] [bool] $Recursive,
        [Parameter(Mandatory)] [string] $Arg
    )
    if ($Empty -or $Recursive) { return }
    Stop-Gateway -Code 'not_empty' -Arg $Arg -Message "$What is not empty. Recursive=true removes what is below it, too."
}

# Refuses to remove a protected object without Force.
function Assert-GatewayUnprotected {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $What,
        [Parameter(Mandatory)] [object] $Object,
        [Parameter(Mandatory)] [bool] $Force,
        [Parameter(Mandatory)] [string] $Arg
    )
    if ($Force -or -not [bool]$Object.ProtectedFromAccidentalDeletion) { return }
    Stop-Gateway -Code 'protected' -Arg $Arg -Message "$What is protected from accidental deletion. Force=true lifts the protection."
}

# Refuses to remove a group as part of a tree if the group could not be removed alone, because of the caller's
# limits or because it is the primary group of remaining accounts.
function Assert-GatewayGroupBelow {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Group,
        [Parameter(Mandatory)] [string] $Tree,
        [Parameter(Mandatory)] [string] $Noun,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    $name = [string]$Group.DistinguishedName
    if (@(Get-GatewayAllowedGroup -Group @($Group) -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU -Server $Server).Length -eq 0) {
        Stop-Gateway -Code 'limit' -Arg $Arg -Message "A group lies below the $Noun that is not among those that the caller is limited to."
    }
    Set-GatewayStep -Label 'check primary groups' -Arg $Arg
    $filter = '(primaryGroupID=' + (Get-GatewayLdapEscaped -Value (([string]$Group.objectSid) -replace '^.*-', '')) + ')'
    foreach ($holder in @(Get-GatewayObject -Class 'any' -Filter $filter -Base (Get-GatewayDomain -Server $Server).dn -Server $Server)) {
        if (-not (Test-GatewayWithin -Dn ([string]$holder.DistinguishedName) -Base @($Tree))) {
            $account = "'" + [string]$holder.DistinguishedName + "'"
            if (-not (Test-GatewayAllowed -Dn ([string]$holder.DistinguishedName) -AllowedOU $AllowedOU -Server $Server)) { $account = 'an account' }
            $message = "'$name' lies below the $Noun and is the primary group of $account. Set another one for that first: $GatewayPrimaryCall."
            Stop-Gateway -Code 'conflict' -Arg $Arg -Message $message
        }
    }
}

# Returns the objects below one that is about to be removed with all of them, read with the properties for the
# guards. Ends the request if there are too many including the object itself, if one of them must never be removed
# or is protected without Force, or if a group among them could not be removed by itself. The objects are counted
# first, because a tree may be large. What and Noun are words for the object in sentences.
function Get-GatewayBelow {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [Parameter(Mandatory)] [string] $What,
        [Parameter(Mandatory)] [string] $Noun,
        [Parameter(Mandatory)] [bool] $Force,
        [Parameter(Mandatory)] [int] $BulkLimit,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    $dn = [string]$Object.DistinguishedName
    $guid = [string]$Object.ObjectGUID
    Set-GatewayStep -Label 'count subtree' -Arg $Arg
    $all = @(Get-GatewayObject -Class 'any' -Filter '(objectClass=*)' -Base $dn -Server $Server)
    $total = $all.Length
    if ($total -gt $BulkLimit) {
        Stop-Gateway -Code 'too_many' -Arg $Arg -Message "Removing $What would remove $total objects; one request removes at most $BulkLimit."
    }
    Set-GatewayStep -Label 'read subtree' -Arg $Arg
    $guids = @(foreach ($item in $all) { [string]$item.ObjectGUID })
    $needed = @(
        'ProtectedFromAccidentalDeletion', 'isCriticalSystemObject', 'adminCount', 'primaryGroupID', 'userAccountControl',
        'sAMAccountName', 'objectSid'
    )
    foreach ($item in @(Get-GatewayObjectAgain -Guid $guids -Property $needed -Base $dn -Server $Server)) {
        if ([string]$item.ObjectGUID -eq $guid) { continue }
        $name = [string]$item.DistinguishedName
        if ([string]$item.isCriticalSystemObject -eq 'True' -or (Test-GatewayController -Computer $item)) {
            $message = "'$name' is a domain controller or a critical system object; it is never removed with what it lies below."
            Stop-Gateway -Code 'protected' -Arg $Arg -Message $message
        }
        if ([bool]$item.ProtectedFromAccidentalDeletion -and -not $Force) {
            $message = "'$name' is protected from accidental deletion. Force=true lifts all protections below the $Noun."
            Stop-Gateway -Code 'protected' -Arg $Arg -Message $message
        }
        if ([string]$item.ObjectClass -eq 'group') {
            $limits = @{ AllowedOU = $AllowedOU; AllowedGroup = $AllowedGroup; Server = $Server }
            Assert-GatewayGroupBelow -Group $item -Tree $dn -Noun $Noun -Arg $Arg @limits
        }
        $item
    }
}

# Adds the protection of the last object to the intent, because an object that is not removed must keep it.
function Add-GatewayProtectionIntent {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object)
    $protected = [string][bool]$Object.ProtectedFromAccidentalDeletion
    Add-GatewayIntent -Name 'protected' -Before $protected -After $protected
}

# Adds the objects that are removed with an object to the intent.
function New-GatewayBelowIntent {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Below)
    foreach ($item in $Below) {
        New-GatewayIntent -Removes -Guid ([string]$item.ObjectGUID) -Dn ([string]$item.DistinguishedName) -Of $item
        Add-GatewayProtectionIntent -Object $item
    }
}

# Removes an object with the cmdlet of its class, and the objects below it with the control that removes a tree
# (facts E43, E50).
function Remove-GatewayWhole {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [ValidateSet('user', 'group', 'computer', 'ou')] [string] $Class,
        [Parameter(Mandatory)] [bool] $Tree,
        [Parameter(Mandatory)] [string] $Server
    )
    if ($Class -eq 'ou') {
        Remove-ADOrganizationalUnit -Identity $Guid -Recursive:$Tree -Server $Server -Confirm:$false
        return
    }
    if ($Tree) {
        Remove-ADObject -Identity $Guid -Recursive -Server $Server -Confirm:$false
        return
    }
    switch ($Class) {
        'user' { Remove-ADUser -Identity $Guid -Server $Server -Confirm:$false }
        'group' { Remove-ADGroup -Identity $Guid -Server $Server -Confirm:$false }
        'computer' { Remove-ADComputer -Identity $Guid -Server $Server -Confirm:$false }
    }
}

# Removes an announced object and those below it. It first lifts the protections below, then the object's own, and
# then removes the tree (facts E43, E44). With Force it also lifts half a protection. If the removal fails, the
# protections are set again.
function Remove-GatewayTree {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Below,
        [Parameter(Mandatory)] [ValidateSet('user', 'group', 'computer', 'ou')] [string] $Class,
        [Parameter(Mandatory)] [bool] $Force,
        [Parameter(Mandatory)] [string] $Label,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    $guid = [string]$Object.ObjectGUID
    $dn = [string]$Object.DistinguishedName
    foreach ($item in $Below) {
        if ([bool]$item.ProtectedFromAccidentalDeletion) {
            $target = @{ Guid = [string]$item.ObjectGUID; Dn = [string]$item.DistinguishedName }
            Set-GatewayProtection -Protected $false -Label 'lift protection' -Arg 'Force' -Server $Server @target
        }
    }
    $protected = [bool]$Object.ProtectedFromAccidentalDeletion
    if ($protected) { Set-GatewayProtection -Guid $guid -Protected $false -Label 'lift protection' -Dn $dn -Arg 'Force' -Server $Server }
    $half = $Force -and -not $protected
    $removed = $false
    while (-not $removed) {
        Set-GatewayStep -Label $Label -Arg $Arg
        try {
            Remove-GatewayWhole -Guid $guid -Class $Class -Tree ($Below.Length -gt 0) -Server $Server
            Complete-GatewayStep -Label $Label -Guid $guid -Dn $dn
            $removed = $true
        } catch {
            if (-not $half -or [string]$_.CategoryInfo.Category -ne 'PermissionDenied') {
                Complete-GatewayLoss -Object $Below -Server $Server
                throw
            }
        }
        if (-not $removed) {
            # The object's own half of a protection reads as unprotected but still denies (facts E37, E41).
            $half = $false
            Clear-GatewayHalfProtection -Guid $guid -Dn $dn -Arg 'Force' -Server $Server
        }
    }
}

# Records a removed object and those that were removed with it, the object first.
function Add-GatewayRemoval {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [Parameter(Mandatory)] [System.Collections.IDictionary] $Record,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Below
    )
    Add-GatewayChange -Guid ([string]$Object.ObjectGUID) -Dn ([string]$Object.DistinguishedName) -Before $Record -After $null
    foreach ($item in $Below) {
        $lost = @{ name = [string]$item.Name; class = [string]$item.ObjectClass }
        Add-GatewayChange -Guid ([string]$item.ObjectGUID) -Dn ([string]$item.DistinguishedName) -Before $lost -After $null
    }
}
