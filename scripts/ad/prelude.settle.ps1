# Functions shared by the scripts that settle writes which were cut off. A state is a table of texts. Its keys are
# the names with which scripts announce changes (Add-GatewayIntent).

# Returns the age of an object in seconds, by the clock of the domain controller, because the clock of this machine
# may differ.
function Get-GatewayAge {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object, [Parameter(Mandatory)] [string] $Server)
    $now = ([datetime](Get-ADRootDSE -Server $Server).currentTime).ToUniversalTime()
    [int]($now - ([datetime]$Object.whenCreated).ToUniversalTime()).TotalSeconds
}

# Returns names as one text, in an order that does not depend on the domain controller.
function Get-GatewayNameList {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [string[]] $Name)
    $sorted = [string[]]@(foreach ($item in $Name) { $item })
    $order = [string[]]@(foreach ($item in $Name) { $item })
    [System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
    $sorted -join ','
}

# Returns the state of an object that was read with the properties of its class.
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
    $stored = Get-GatewayUserStored -User $Object -Name $GatewayUserWritten
    foreach ($name in $GatewayUserWritten) { $state[$name] = [string]($stored[$name] -join ', ') }
    foreach ($one in @(ConvertFrom-GatewayAttribute -Line $Attribute)) {
        $values = [string[]]@(Get-GatewayAttributeValue -Object $Object -Name $one.name -Form $one.form)
        $state[$one.name] = [string](Get-GatewayAttributeText -Value $values)
    }
    $state
}

# The maximum number of members, or groups, in an image.
$GatewayImageSize = 5000

# Returns the names and GUIDs of objects for an image. If there are too many, the rest is left out.
function ConvertTo-GatewayImageItem {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Object)
    $left = $GatewayImageSize
    foreach ($item in $Object) {
        if ($left -gt 0) { [ordered]@{ guid = [string]$item.ObjectGUID; dn = [string]$item.DistinguishedName } }
        $left--
    }
}

# Returns the image of an object that is about to be removed or has just been created (New). It must have been read
# with the properties of its class. The image contains its state, the groups of which it is a direct member and, for
# a group, its direct members. It omits primary groups (facts E18), and a new object has no memberships. Restorable
# is the result of Get-GatewayRestorable.
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
