# Functions shared by the scripts for OUs.

# Finds an OU, a container or the domain root by its GUID within the caller's limits.
function Find-GatewayContainerByGuid {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    $filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Guid)) + ')'
    $base = (Get-GatewayDomain -Server $Server).dn
    $all = @(Get-GatewayObject -Class 'container' -Filter $filter -Property $GatewayContainerProperties -Base $base -Server $Server)
    $found = @(Select-GatewayAllowed -Found $all -AllowedOU $AllowedOU -Server $Server)
    if ($found.Length -eq 1) { return $found[0] }
    if ($all.Length -gt 0) { $script:GatewayOutside = $true }
    $message = "There is no OU or container with the GUID '$Guid'" + (Get-GatewayScopeText -AllowedOU $AllowedOU) + '.'
    Stop-Gateway -Code 'not_found' -Arg $Arg -Message $message
}

# Finds the OU that a request changes. Containers and the domain root cannot be changed. The OU of Windows itself
# (Domain Controllers) can be changed only by privileged callers, and cannot be moved or renamed.
function Find-GatewayOU {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [bool] $Privileged,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
        [switch] $Relocate,
        [Parameter(Mandatory)] [string] $Server,
        [Parameter(Mandatory)] [string] $Arg
    )
    Set-GatewayStep -Label 'find OU' -Arg $Arg
    $properties = $GatewayContainerProperties + @('isCriticalSystemObject')
    $ou = Find-GatewayContainer -Dn $Dn -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg $Arg -Code 'not_found'
    $found = [string]$ou.DistinguishedName
    if ($Relocate) { Assert-GatewayNoLimit -Dn $found -AllowedOU $AllowedOU -Server $Server -Arg $Arg }
    if ([string]$ou.ObjectClass -ne 'organizationalUnit') {
        Stop-Gateway -Code 'protected' -Arg $Arg -Message "'$found' is a container, not an OU; containers are not changed here."
    }
    if ($Relocate -and [string]$ou.isCriticalSystemObject -eq 'True') {
        Stop-Gateway -Code 'protected' -Arg $Arg -Message "'$found' is a critical system object; it cannot be moved, renamed or removed."
    }
    Assert-GatewayPrivilege -Object $ou -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg $Arg
    if ($Relocate) { Assert-GatewayTree -Dn $found -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg $Arg }
    $ou
}

# Returns the distinguished name of the parent that a request gives for an OU.
function Find-GatewayOUPlace {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Dn,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [bool] $Privileged,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'find destination' -Arg 'OUDestinationPath'
    $place = Find-GatewayContainer -Dn $Dn -AllowedOU $AllowedOU -Server $Server -Arg 'OUDestinationPath' -Code 'unprocessable'
    $found = [string]$place.DistinguishedName
    if (@('organizationalUnit', 'domainDNS') -notcontains [string]$place.ObjectClass) {
        Stop-Gateway -Code 'unprocessable' -Arg 'OUDestinationPath' -Message "'$found' is a container: an OU lies in an OU or in the domain itself."
    }
    Assert-GatewayPlace -Dn $found -Privileged $Privileged -Server $Server -Arg 'OUDestinationPath'
    $found
}

# Returns the OU that a step of this request has created although it failed, or $null. An OU that is older than any
# request was created by somebody else.
function Find-GatewayNewOU {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        [Parameter(Mandatory)] [string] $Parent,
        [Parameter(Mandatory)] [string] $Server
    )
    $filter = '(&(objectClass=organizationalUnit)(ou=' + (Get-GatewayLdapEscaped -Value $Name) + '))'
    $search = @{ Class = 'container'; Filter = $filter; Base = $Parent; Scope = 'OneLevel'; Property = 'whenCreated'; Server = $Server }
    foreach ($ou in @(Get-GatewayObject @search)) {
        if ((Get-GatewayAge -Object $ou -Server $Server) -le 300) { return $ou }
    }
    $null
}

# Returns the current record of an OU.
function Get-GatewayOURecord {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    ConvertTo-GatewayContainer -Container @(Find-GatewayContainerByGuid -Guid $Guid -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath')
}
