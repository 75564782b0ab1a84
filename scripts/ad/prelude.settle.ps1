# Functions shared by the scripts that settle writes which were cut off. A state is a table of texts by the
# names that scripts announce changes by (Add-GatewayIntent).

# How many seconds ago an object was created, by the clock of the domain controller, because the clock
# of this machine may differ.
function Get-GatewayAge {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object, [Parameter(Mandatory)] [string] $Server)
    $now = ([datetime](Get-ADRootDSE -Server $Server).currentTime).ToUniversalTime()
    [int]($now - ([datetime]$Object.whenCreated).ToUniversalTime()).TotalSeconds
}

# The state of an object read with the properties of its class.
function ConvertTo-GatewayState {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [ValidateSet('user', 'group', 'computer', 'ou')] [string] $Class,
        [Parameter(Mandatory)] [object] $Object
    )
    $state = [ordered]@{
        exists         = 'True'
        parent         = [string](Get-GatewayParentDn -Dn ([string]$Object.DistinguishedName))
        name           = [string]$Object.Name
        sAMAccountName = [string]$Object.SamAccountName
        description    = [string]@($Object.description)[0]
        protected      = [string][bool]$Object.ProtectedFromAccidentalDeletion
    }
    if ($Class -ne 'user') { return $state }
    $state['userPrincipalName'] = [string]$Object.UserPrincipalName
    $state['enabled'] = [string][bool]$Object.Enabled
    $state['lockedOut'] = [string][bool]$Object.LockedOut
    $state['passwordNeverExpired'] = [string](([int]$Object.userAccountControl -band 0x10000) -ne 0)
    $state['pwdLastSet'] = [string][long]$Object.pwdLastSet
    $stored = Get-GatewayUserStored -User $Object
    foreach ($name in $GatewayUserWritten) { $state[$name] = [string]($stored[$name] -join ', ') }
    $state
}
