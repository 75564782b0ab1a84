# Functions shared by the scripts for computers.

# The properties that ConvertTo-GatewayComputer and the guards need.
$GatewayComputerProperties = @(
    'description', 'dNSHostName', 'operatingSystem', 'operatingSystemVersion', 'lastLogonTimestamp', 'pwdLastSet', 'whenCreated', 'whenChanged',
    'primaryGroupID', 'userAccountControl', 'isCriticalSystemObject', 'adminCount', 'servicePrincipalName'
)

# The properties that the image of a computer needs.
$GatewayComputerImaged = $GatewayComputerProperties + @('ProtectedFromAccidentalDeletion')

# Writes the records of computers.
function ConvertTo-GatewayComputer {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Computer)
    foreach ($item in $Computer) {
        # As Get-GatewayFileTime, without its call.
        $lastLogon = ''
        $ticks = [long]$item.lastLogonTimestamp # $null is 0
        if ($ticks -gt 0 -and $ticks -le $GatewayMaxFileTime) {
            $lastLogon = [DateTime]::FromFileTimeUtc($ticks).ToString($GatewayDateFormat, $GatewayInvariant)
        }
        $lastSet = ''
        $ticks = [long]$item.pwdLastSet
        if ($ticks -gt 0 -and $ticks -le $GatewayMaxFileTime) {
            $lastSet = [DateTime]::FromFileTimeUtc($ticks).ToString($GatewayDateFormat, $GatewayInvariant)
        }
        $created = $item.whenCreated # absent if the account may not read it
        if ($null -ne $created) { $created = ([datetime]$created).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        $modified = $item.whenChanged
        if ($null -ne $modified) { $modified = ([datetime]$modified).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        [ordered]@{
            guid                   = [string]$item.ObjectGUID
            sid                    = [string]$item.SID
            computerName           = [string]$item.Name
            samName                = [string]$item.SamAccountName
            operatingSystem        = [string]$item.operatingSystem
            operatingSystemVersion = [string]$item.operatingSystemVersion
            description            = [string]@($item.description)[0]
            dnsName                = [string]$item.dNSHostName
            path                   = [string](([string]$item.DistinguishedName) -replace '^(?:[^,\\]|\\.)+,', '')
            distinguishedName      = [string]$item.DistinguishedName
            enabled                = [bool]$item.Enabled
            lastLogon              = [string]$lastLogon
            passwordLastSet        = [string]$lastSet
            created                = [string]$created
            modified               = [string]$modified
        }
    }
}

# Returns whether an object is a domain controller. This is decided by its primary group (Domain Controllers,
# Read-only Domain Controllers) or by the flags of its account (SERVER_TRUST, PARTIAL_SECRETS).
function Test-GatewayController {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Computer)
    if (@('516', '521') -contains [string]$Computer.primaryGroupID) { return $true }
    ([long]$Computer.userAccountControl -band 0x04002000) -ne 0
}

# Finds one computer within the caller's limits by its name, with or without the final $.
function Find-GatewayComputer {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Identity,
        [string[]] $Property = @(),
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg,
        [switch] $Write,
        [switch] $Quiet
    )
    Set-GatewayStep -Label 'find computer' -Arg $Arg
    $limits = @{ AllowedOU = $AllowedOU; Server = $Server }
    Find-GatewayAccount -Class 'computer' -Identity $Identity -Property $Property -Arg $Arg -Write:$Write -Quiet:$Quiet @limits
}

# Returns the computers whose names match a pattern. The directory ignores diacritics (KB 938447), so it also finds
# other computers, which must not be removed. Only '*' is special in the pattern.
function Get-GatewayMatchingComputer {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Filter,
        [AllowEmptyString()] [string] $WildCard,
        [Parameter(Mandatory)] [string] $Base,
        [Parameter(Mandatory)] [string] $Scope,
        [Parameter(Mandatory)] [string] $Server
    )
    $pattern = '*'
    if ($WildCard) { $pattern = ($WildCard -replace '[\[\]?`]', '`$0').ToUpperInvariant() }
    foreach ($computer in @(Get-GatewayObject -Class 'computer' -Filter $Filter -Base $Base -Scope $Scope -Server $Server)) {
        # -like compares by culture, and in a Turkish culture the dotless i equals I.
        if (([string]$computer.Name).ToUpperInvariant() -clike $pattern) { $computer }
    }
}

# Returns the objects below a computer, divided into those that are removed with it and those that block its
# removal, because they would be lost (above all recovery information, facts E50) or because they are protected.
function Get-GatewayComputerChild {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Dn, [Parameter(Mandatory)] [string] $Guid, [Parameter(Mandatory)] [string] $Server)
    $going = [System.Collections.Generic.List[object]]::new()
    $blocking = [System.Collections.Generic.List[string]]::new()
    $guarded = [System.Collections.Generic.List[object]]::new()
    $found = @(Get-GatewayObject -Class 'any' -Filter '(objectClass=*)' -Base $Dn -Server $Server)
    $guids = @(foreach ($child in $found) { [string]$child.ObjectGUID })
    foreach ($child in @(Get-GatewayObjectAgain -Guid $guids -Property 'ProtectedFromAccidentalDeletion' -Base $Dn -Server $Server)) {
        if ([string]$child.ObjectGUID -eq $Guid) { continue }
        if (@('serviceConnectionPoint', 'printQueue') -notcontains [string]$child.ObjectClass) {
            $blocking.Add([string]$child.DistinguishedName)
        } elseif ([bool]$child.ProtectedFromAccidentalDeletion) {
            $guarded.Add($child)
        } else {
            $going.Add($child)
        }
    }
    @{ going = $going.ToArray(); blocking = $blocking.ToArray(); guarded = $guarded.ToArray() }
}

# Returns the reason why a computer may not be removed, as an error code of the API and a sentence. The code is ''
# if it may be removed.
function Get-GatewayComputerBar {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Computer,
        [Parameter(Mandatory)] [hashtable] $Children,
        [bool] $Force = $false,
        [bool] $Recursive = $false,
        [string] $By = ''
    )
    $dn = [string]$Computer.DistinguishedName
    if (Test-GatewayController -Computer $Computer) {
        return @{ code = 'protected'; message = "'$dn' is a domain controller; it is removed by demoting it." }
    }
    if ([string]$Computer.isCriticalSystemObject -eq 'True') {
        return @{ code = 'protected'; message = "'$dn' is a critical system object and cannot be removed." }
    }
    if ([bool]$Computer.ProtectedFromAccidentalDeletion -and -not $Force) {
        return @{ code = 'protected'; message = "The computer '$dn' is protected from accidental deletion. Force=true$By lifts the protection." }
    }
    if ($Children.blocking.Length -gt 0 -and -not $Recursive) {
        $names = @(foreach ($name in $Children.blocking) { "'" + $name + "'" }) -join ', '
        return @{ code = 'not_empty'; message = "The computer '$dn' has objects below it that would be lost: $names. Recursive=true$By removes them, too." }
    }
    if ($Children.guarded.Length -gt 0 -and -not $Force) {
        $names = @(foreach ($child in $Children.guarded) { "'" + [string]$child.DistinguishedName + "'" }) -join ', '
        $message = "The computer '$dn' has objects below it that are protected from accidental deletion: $names. Force=true$By lifts the protections."
        return @{ code = 'protected'; message = $message }
    }
    @{ code = ''; message = '' }
}

# Sets the account name, DNS name and service principal names of a computer in one write.
function Set-GatewayComputerName {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [string] $Sam,
        [Parameter(Mandatory)] [AllowEmptyString()] [string] $Dns,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Spns,
        [Parameter(Mandatory)] [string] $Server
    )
    $set = @{ Identity = $Guid; SamAccountName = $Sam; Server = $Server; Confirm = $false }
    if ($Dns -ne '') { $set['DNSHostName'] = $Dns }
    if ($Spns.Length -gt 0) { $set['ServicePrincipalNames'] = @{ Replace = $Spns } }
    Set-ADComputer @set
}

# Announces the removal of a computer and of the objects removed with it.
function New-GatewayRemovalIntent {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Computer,
        [Parameter(Mandatory)] [System.Collections.IDictionary] $Record,
        [Parameter(Mandatory)] [System.Collections.IDictionary] $Image,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Going
    )
    $names = @{ Dn = [string]$Computer.DistinguishedName; Account = [string]$Computer.SamAccountName }
    New-GatewayIntent -Removes -Guid ([string]$Computer.ObjectGUID) -Record $Record -Image $Image -Of $Computer @names
    Add-GatewayProtectionIntent -Object $Computer
    New-GatewayBelowIntent -Below $Going
}
