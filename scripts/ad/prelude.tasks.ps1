# Functions shared by the scripts of everyday tasks: moves, scopes of groups, managers of groups.

# The call that gives an account another primary group.
$GatewayPrimaryCall = 'PUT /api/ADUser/{UserName}/PrimaryGroup, or the same of /api/Computers/{ADComputerName}'

# Refuses to move an object that is protected, or to a place where its name is taken.
function Assert-GatewayMovable {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Object,
        [Parameter(Mandatory)] [string] $Target,
        [Parameter(Mandatory)] [string] $Arg,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $dn = [string]$Object.DistinguishedName
    if ([bool]$Object.ProtectedFromAccidentalDeletion) {
        $how = $GatewayProtectionCalls[[string]$Object.ObjectClass]
        $message = "'$dn' is protected from accidental deletion and cannot be moved. Lift the protection first: $how."
        Stop-Gateway -Code 'protected' -Arg $Arg -Message $message
    }
    if (Test-GatewayWithin -Dn $Target -Base @($dn)) {
        Stop-Gateway -Code 'unprocessable' -Arg $Arg -Message "'$dn' cannot be moved into itself."
    }
    $taken = @{ AllowedGroup = $AllowedGroup; AllowedOU = $AllowedOU; Server = $Server }
    Assert-GatewayNameFree -Name ([string]$Object.Name) -Parent $Target -Except ([string]$Object.ObjectGUID) -Arg $Arg @taken
}

# Refuses changes that would stop a domain controller or the gateway itself, for every caller.
function Assert-GatewayOrdinaryComputer {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Computer,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Verb
    )
    $dn = [string]$Computer.DistinguishedName
    if (Test-GatewayController -Computer $Computer) {
        Stop-Gateway -Code 'protected' -Arg 'Identity' -Message "'$dn' is a domain controller and is not $Verb here."
    }
    $guard = Get-GatewayGuard -GuardedGroup $GuardedGroup -Server $Server
    if ($guard.own.ContainsKey([string]$Computer.ObjectGUID)) {
        Stop-Gateway -Code 'protected' -Arg 'Identity' -Message "'$dn' is not $($Verb): $($guard.own[[string]$Computer.ObjectGUID])."
    }
}

# Returns the scope of a group as records show it.
function Get-GatewayScopeName {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Scope)
    if ($Scope -eq 'DomainLocal') { return 'Domain_Local' }
    $Scope
}

# Returns the distinguished name of the manager of a group, which is a user or a group.
function Find-GatewayGroupManager {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $ManagedBy,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedGroup,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'find manager' -Arg 'ManagedBy'
    $limits = @{ AllowedOU = $AllowedOU; Server = $Server }
    $found = Find-GatewayAccount -Class 'user' -Identity $ManagedBy -Arg 'ManagedBy' -Write -Quiet @limits
    if ($null -eq $found) {
        $found = Find-GatewayAccount -Class 'group' -Identity $ManagedBy -AllowedGroup $AllowedGroup -Arg 'ManagedBy' -Write -Quiet @limits
    }
    if ($null -eq $found) {
        $message = "No user or group '$ManagedBy' was found" + (Get-GatewayScopeText -AllowedGroup $AllowedGroup -AllowedOU $AllowedOU) +
            '. It is looked for by GUID, SID, distinguished name and account name.'
        Stop-Gateway -Code 'unprocessable' -Arg 'ManagedBy' -Message $message
    }
    [string]$found.DistinguishedName
}

# Writes texts of a group in one modification, so all or none are written. An empty text clears its attribute.
function Set-GatewayGroupText {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [System.Collections.IDictionary] $Text,
        [Parameter(Mandatory)] [string] $Server
    )
    $set = @{ Identity = $Guid; Server = $Server; Confirm = $false }
    $replace = @{}
    $clear = [System.Collections.Generic.List[string]]::new()
    foreach ($name in @($Text.Keys)) {
        if (([string]$Text[$name]).Length -eq 0) { $clear.Add($name) } else { $replace[$name] = [string]$Text[$name] }
    }
    if ($replace.Count -gt 0) { $set['Replace'] = $replace }
    if ($clear.Count -gt 0) { $set['Clear'] = $clear.ToArray() }
    Set-ADGroup @set
}
