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

# Names as one text, in an order that does not depend on the domain controller.
function Get-GatewayNameList {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [string[]] $Name)
    $sorted = [string[]]@(foreach ($item in $Name) { $item })
    $order = [string[]]@(foreach ($item in $Name) { $item })
    [System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
    $sorted -join ','
}

# The state of an object read with the properties of its class.
function ConvertTo-GatewayState {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [ValidateSet('user', 'group', 'computer', 'ou')] [string] $Class,
        [Parameter(Mandatory)] [object] $Object,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $Attribute
    )
    $state = [ordered]@{
        exists         = 'True'
        parent         = [string](Get-GatewayParentDn -Dn ([string]$Object.DistinguishedName))
        name           = [string]$Object.Name
        sAMAccountName = [string]$Object.SamAccountName
        description    = [string]@($Object.description)[0]
        protected      = [string][bool]$Object.ProtectedFromAccidentalDeletion
    }
    if ($Class -eq 'computer') {
        $state['dNSHostName'] = [string]$Object.dNSHostName
        $state['servicePrincipalName'] = [string](Get-GatewayNameList -Name ([string[]]@(foreach ($spn in $Object.servicePrincipalName) { [string]$spn })))
        $state['enabled'] = [string][bool]$Object.Enabled
    }
    if ($Class -eq 'group') {
        $state['mail'] = [string]$Object.mail
        $state['displayName'] = [string]$Object.displayName
        $state['managedBy'] = [string]$Object.managedBy
        $state['scope'] = [string](Get-GatewayScopeName -Scope ([string]$Object.GroupScope))
    }
    if ($Class -ne 'user') { return $state }
    $state['accountExpires'] = [string](Get-GatewayFileTime -Value $Object.accountExpires)
    $state['userPrincipalName'] = [string]$Object.UserPrincipalName
    $state['enabled'] = [string][bool]$Object.Enabled
    $state['lockedOut'] = [string][bool]$Object.LockedOut
    $state['passwordNeverExpired'] = [string](([int]$Object.userAccountControl -band 0x10000) -ne 0)
    $state['pwdLastSet'] = [string][long]$Object.pwdLastSet
    $stored = Get-GatewayUserStored -User $Object
    foreach ($name in $GatewayUserWritten) { $state[$name] = [string]($stored[$name] -join ', ') }
    foreach ($one in @(ConvertFrom-GatewayAttribute -Line $Attribute)) {
        $values = [string[]]@(Get-GatewayAttributeValue -Object $Object -Name $one.name -Form $one.form)
        $state[$one.name] = [string](Get-GatewayAttributeText -Value $values)
    }
    $state
}

# The most members, or groups, that an image lists.
$GatewayImageSize = 5000

# The names and GUIDs of objects, for an image; the rest of too many is left out.
function ConvertTo-GatewayImageItem {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Object)
    $left = $GatewayImageSize
    foreach ($item in $Object) {
        if ($left -gt 0) { [ordered]@{ guid = [string]$item.ObjectGUID; dn = [string]$item.DistinguishedName } }
        $left--
    }
}

# The image of an object that is about to be removed, or that was created just now (New), read with the properties of
# its class: its state, the groups that it is a direct member of and, of a group, its direct members. Primary groups
# are not among them (facts E18), and a new object has none. Restorable is what Get-GatewayRestorable says.
function Get-GatewayImage {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [ValidateSet('user', 'group', 'computer', 'ou')] [string] $Class,
        [Parameter(Mandatory)] [object] $Object,
        [AllowNull()] [System.Collections.IDictionary] $Record,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $Attribute,
        [switch] $New,
        [string] $Restorable,
        [Parameter(Mandatory)] [string] $Server
    )
    $attributes = ConvertTo-GatewayState -Class $Class -Object $Object -Attribute $Attribute
    if ($null -ne $Record) {
        foreach ($name in @('type', 'enabled', 'operatingSystem', 'operatingSystemVersion', 'lastLogon')) {
            if ($null -ne $Record[$name]) { $attributes[$name] = [string]$Record[$name] }
        }
    }
    $packed = [string]$Object.userParameters
    if ($Class -eq 'user') { $attributes['userParameters'] = [string][Convert]::ToBase64String([System.Text.Encoding]::Unicode.GetBytes($packed)) }
    $image = [ordered]@{ attributes = $attributes; memberOf = @(); members = @(); incomplete = $false; restorable = $Restorable }
    if ($Class -eq 'ou' -or $New) { return $image }
    Set-GatewayStep -Label 'read memberships'
    $dn = Get-GatewayLdapEscaped -Value ([string]$Object.DistinguishedName)
    $search = @{ Base = (Get-GatewayDomain -Server $Server).dn; Most = ($GatewayImageSize + 1); Server = $Server }
    $groups = @(Get-GatewayObject -Class 'group' -Filter "(member=$dn)" @search)
    $members = @()
    if ($Class -eq 'group') { $members = @(Get-GatewayObject -Class 'any' -Filter "(memberOf=$dn)" @search) }
    $image['memberOf'] = @(ConvertTo-GatewayImageItem -Object $groups)
    $image['members'] = @(ConvertTo-GatewayImageItem -Object $members)
    $image['incomplete'] = [bool]($groups.Length -gt $GatewayImageSize -or $members.Length -gt $GatewayImageSize)
    $image
}
