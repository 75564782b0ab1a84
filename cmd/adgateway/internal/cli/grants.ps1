# Gives the account of adgateway the rights that it needs, step by step, and takes them back with -Revoke. -WhatIf shows
# each step and changes nothing; every change asks first, unless -Confirm:$false is given. It may be run any number of
# times, also after it was interrupted. It looks at every place before the first change, and returns one object for each
# step, whose State is 'done', 'there already' or 'skipped'. -Revoke takes only what this script gave.
#
#   -Forest               a domain controller's key for managed accounts, once in the forest. Enterprise Admins.
#   -Domain -HostName GW1 the account, the group of its hosts, and the group of its rights. Domain Admins.
#                         Restart each host before -Local: it learns of its groups when it starts.
#   -Delegate -Scope ...  rights on OUs, zones and the Recycle Bin. Domain Admins, or accounts that control them.
#                         With -Revoke: all rights on the -OU and -Zone that are named; without one, those on the domain.
#   -Local                the account on this computer, and the firewall. Administrators of this computer.
[CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'High')]
param(
    [Parameter(Mandatory = $true, ParameterSetName = 'Forest')] [switch] $Forest,
    [Parameter(Mandatory = $true, ParameterSetName = 'Domain')] [switch] $Domain,
    [Parameter(Mandatory = $true, ParameterSetName = 'Delegate')] [switch] $Delegate,
    [Parameter(Mandatory = $true, ParameterSetName = 'Local')] [switch] $Local,
    [Parameter(ParameterSetName = 'Domain')] [string[]] $HostName = @(),
    [Parameter(ParameterSetName = 'Delegate')] [string[]] $Scope = @(),
    [Parameter(ParameterSetName = 'Delegate')] [string[]] $OU = @(),
    [Parameter(ParameterSetName = 'Delegate')] [string[]] $Zone = @(),
    [Parameter(ParameterSetName = 'Local')] [int] $Port = 8443,
    [string] $Name = 'adgateway',
    [switch] $Revoke
)

$ErrorActionPreference = 'Stop'
$rights = $Name + '-rights'
$hosts = $Name + '-hosts'
$account = $Name + '$'

# The rights to grant, by account and place. On is a placeholder, and Rights are in dsacls notation.
$grants = @(
    # GRANTS
)

# The descriptions of the objects that this script creates. -Revoke removes no object with another description.
$made = @{ $rights = 'Rights of adgateway'; $hosts = 'Computers that run adgateway'; $account = 'Account of adgateway' }

# Provides ShouldProcess to the functions below, for -WhatIf and -Confirm.
$caller = $PSCmdlet

# Ends the script with an error before anything is changed.
function Stop-Script {
    param([string] $Text, [object] $Target)
    $exception = [System.InvalidOperationException]::new($Text)
    $caller.ThrowTerminatingError([System.Management.Automation.ErrorRecord]::new($exception, 'AdgatewayRights', 'InvalidArgument', $Target))
}

# Runs a change after asking for confirmation, and returns the step.
function Invoke-Step {
    param([string] $Target, [string] $Change, [scriptblock] $Action)
    $state = 'skipped'
    if ($caller.ShouldProcess($Target + ': ' + $Change)) {
        $null = & $Action
        $state = 'done'
    }
    [PSCustomObject]@{ Target = $Target; Change = $Change; State = $state }
}

# Returns a step that has nothing to do, or that is not for this script.
function Skip-Step {
    param([string] $Target, [string] $Change, [string] $State = 'there already')
    [PSCustomObject]@{ Target = $Target; Change = $Change; State = $State }
}

# Changes the permissions of an object with dsacls. If it fails, the error contains the messages of dsacls.
function Set-Right {
    param([string] $Target, [string[]] $Argument)
    Invoke-Step -Target $Target -Change ('dsacls ' + ($Argument -join ' ')) -Action {
        $said = @(dsacls.exe $Target @Argument)
        if ($LASTEXITCODE -ne 0) { throw ('dsacls ' + $Target + ': ' + ($said -join ' ')) }
    }
}

# Returns an account or group by its name, with its members, or $null if there is none.
function Find-Object {
    param([string] $Name)
    Get-ADObject -LDAPFilter ('(sAMAccountName=' + $Name + ')') -Properties 'description', 'member'
}

# Reports whether there is an object.
function Test-Place {
    param([string] $Target)
    try {
        $null = Get-ADObject -Identity $Target -IncludeDeletedObjects
        $true
    } catch {
        if (-not ($_.Exception -is [Microsoft.ActiveDirectory.Management.ADIdentityNotFoundException])) { throw }
        $false
    }
}

# Creates a group unless it exists, and adds the members that it lacks. Member contains objects, or the names of
# objects that will exist by then.
function Set-Group {
    param([string] $Name, [object[]] $Member)
    $group = Find-Object -Name $Name
    if ($null -ne $group) {
        Skip-Step -Target $Name -Change 'create the group'
    } else {
        Invoke-Step -Target $Name -Change 'create the group' -Action {
            New-ADGroup -Name $Name -GroupScope 'Global' -Description $made[$Name]
        }
    }
    foreach ($one in $Member) {
        $found = Find-Object -Name $one
        if ($null -ne $group -and $null -ne $found -and @($group.member) -contains $found.DistinguishedName) {
            Skip-Step -Target $Name -Change ('add the member ' + $one)
        } else {
            Invoke-Step -Target $Name -Change ('add the member ' + $one) -Action { Add-ADGroupMember -Identity $Name -Members $one }
        }
    }
}

# Removes an account or group that this script created.
function Remove-Made {
    param([string] $Account, [string] $Change, [scriptblock] $Action)
    $found = Find-Object -Name $Account
    if ($null -eq $found) {
        Skip-Step -Target $Account -Change $Change
    } elseif ($found.description -ne $made[$Account]) {
        $why = ": its description is not '" + $made[$Account] + "', so this script did not make it"
        Skip-Step -Target $Account -Change ($Change + $why) -State 'skipped'
    } else {
        Invoke-Step -Target $Account -Change $Change -Action $Action
    }
}

# Returns the bytes of a GUID as text.
function Get-Digit {
    param([guid] $Guid)
    [System.BitConverter]::ToString($Guid.ToByteArray())
}

# Reads the GUIDs with which permissions name classes, attributes and extended rights.
function Get-NameTable {
    $root = Get-ADRootDSE
    $names = @{ '' = (Get-Digit -Guid '00000000-0000-0000-0000-000000000000') }
    $properties = @('lDAPDisplayName', 'schemaIDGUID')
    foreach ($one in @(Get-ADObject -SearchBase $root.schemaNamingContext -LDAPFilter '(schemaIDGUID=*)' -Properties $properties)) {
        $names[$one.lDAPDisplayName] = [System.BitConverter]::ToString([byte[]]$one.schemaIDGUID)
    }
    $extended = 'CN=Extended-Rights,' + $root.configurationNamingContext
    foreach ($one in @(Get-ADObject -SearchBase $extended -LDAPFilter '(rightsGuid=*)' -Properties 'displayName', 'rightsGuid')) {
        $names['CA;' + $one.displayName] = Get-Digit -Guid $one.rightsGuid
    }
    $names
}

# The bits for the letters of dsacls, and its notation for the objects that inherit a right.
$bits = @{ CC = 1; DC = 2; LC = 4; RP = 16; WP = 32; DT = 64; CA = 256; SD = 65536; RC = 131072; WD = 262144; GR = 131220; GW = 131112 }
$inherited = @{ '' = 'None'; '/I:T' = 'All'; '/I:S' = 'Descendents' }

# Converts a right in dsacls notation to the form of permissions: its object type and its bits.
function Convert-Right {
    param([string] $Right, [string] $Inherit, [hashtable] $Names)
    $parts = @($Right.Split(';')) + @('', '')
    $mask = 0
    for ($i = 0; $i -lt $parts[0].Length; $i += 2) { $mask = $mask -bor $bits[$parts[0].Substring($i, 2)] }
    $about = $parts[1]
    if ($parts[0] -eq 'CA') { $about = 'CA;' + $about }
    foreach ($one in @($about, $parts[2])) {
        if (-not $Names.ContainsKey($one)) { Stop-Script -Text ('The schema does not have ' + $one) -Target $Right }
    }
    @{ Key = $Names[$about] + '/' + $Names[$parts[2]] + '/' + $inherited[$Inherit]; Mask = $mask }
}

# Returns the bits that an account has on an object by explicit permissions, by object type, or $null if the
# permissions cannot be read.
function Get-Granted {
    param([string] $Target, [string] $Account)
    $descriptor = (Get-ADObject -Identity $Target -IncludeDeletedObjects -Properties 'nTSecurityDescriptor').nTSecurityDescriptor
    if ($null -eq $descriptor) { return $null }
    $granted = @{}
    foreach ($rule in $descriptor.Access) {
        if ($rule.IsInherited -or [string]$rule.IdentityReference -ne $Account -or [string]$rule.AccessControlType -ne 'Allow') { continue }
        $about = (Get-Digit -Guid ([string]$rule.ObjectType)) + '/' + (Get-Digit -Guid ([string]$rule.InheritedObjectType))
        $key = $about + '/' + [string]$rule.InheritanceType
        $before = 0
        if ($granted.ContainsKey($key)) { $before = $granted[$key] }
        $granted[$key] = $before -bor [int]$rule.ActiveDirectoryRights
    }
    $granted
}

# Gives an account a right on an object unless it already has it.
function Add-Right {
    param([string] $Target, [string] $Account, [hashtable] $Grant, [string] $Right, [hashtable] $Names)
    $argument = @(if ($Grant.Inherit -ne '') { $Grant.Inherit }) + @('/G', ($Account + ':' + $Right))
    $change = 'dsacls ' + ($argument -join ' ')
    $wanted = Convert-Right -Right $Right -Inherit $Grant.Inherit -Names $Names
    $granted = Get-Granted -Target $Target -Account $Account
    if ($null -ne $granted -and $granted.ContainsKey($wanted.Key) -and ($granted[$wanted.Key] -bor $wanted.Mask) -eq $granted[$wanted.Key]) {
        Skip-Step -Target $Target -Change $change
        return
    }
    if ($Grant.On -eq 'Deleted' -and $null -eq $granted) { # its owner is the system
        Set-Right -Target $Target -Argument @('/takeownership')
    }
    Set-Right -Target $Target -Argument $argument
}

# Removes all rights of an account on an object, unless some of them are not granted by this script.
function Remove-Right {
    param([string] $Target, [string] $Account, [object[]] $Grant, [hashtable] $Names)
    $change = 'dsacls /R ' + $Account
    $granted = Get-Granted -Target $Target -Account $Account
    if ($null -eq $granted) {
        Skip-Step -Target $Target -Change ($change + ': its permissions cannot be read') -State 'skipped'
        return
    }
    if ($granted.Count -eq 0) {
        Skip-Step -Target $Target -Change $change
        return
    }
    $given = @{}
    foreach ($one in $Grant) {
        foreach ($right in $one.Rights) {
            $part = Convert-Right -Right $right -Inherit $one.Inherit -Names $Names
            $before = 0
            if ($given.ContainsKey($part.Key)) { $before = $given[$part.Key] }
            $given[$part.Key] = $before -bor $part.Mask
        }
    }
    foreach ($key in $granted.Keys) {
        if (-not $given.ContainsKey($key) -or ($given[$key] -bor $granted[$key]) -ne $given[$key]) {
            $why = ': it also has rights that this script does not give; see them with dsacls, and remove them by hand'
            Skip-Step -Target $Target -Change ($change + $why) -State 'skipped'
            return
        }
    }
    Set-Right -Target $Target -Argument @('/R', $Account)
}

# Returns the place of a DNS zone in the directory.
function Find-Zone {
    param([string] $Zone, [string] $Root)
    $forest = (Get-ADRootDSE).rootDomainNamingContext
    foreach ($container in @(('DC=DomainDnsZones,' + $Root), ('DC=ForestDnsZones,' + $forest), ('CN=System,' + $Root))) {
        $target = 'DC=' + $Zone + ',CN=MicrosoftDNS,' + $container
        if (Test-Place -Target $target) { return $target }
    }
    Stop-Script -Text ('There is no zone ' + $Zone + ' in the directory. Correct -Zone.') -Target $Zone
}

if ($Forest) {
    $change = 'create the key for managed accounts, which can be used in 10 hours'
    if ($Revoke) {
        Skip-Step -Target 'the forest' -Change 'remove the key for managed accounts: other accounts may use it' -State 'skipped'
    } elseif (@(Get-KdsRootKey).Length -gt 0) {
        Skip-Step -Target 'the forest' -Change $change
    } else {
        Invoke-Step -Target 'the forest' -Change $change -Action { Add-KdsRootKey -EffectiveImmediately }
    }
}

if ($Domain -and $Revoke) {
    Remove-Made -Account $account -Change 'remove the account' -Action { Remove-ADServiceAccount -Identity $Name -Confirm:$false }
    foreach ($group in @($rights, $hosts)) {
        Remove-Made -Account $group -Change 'remove the group' -Action { Remove-ADGroup -Identity $group -Confirm:$false }
    }
} elseif ($Domain) {
    if ($HostName.Length -eq 0) { Stop-Script -Text '-Domain needs -HostName: the computers that will run adgateway.' -Target $Name }
    $members = @(foreach ($computer in $HostName) { $computer.Split('.')[0] + '$' })
    foreach ($one in $members) {
        if ($null -eq (Find-Object -Name $one)) {
            Stop-Script -Text ('There is no computer with the account ' + $one + '. Correct -HostName.') -Target $one
        }
    }
    $steps = @(Set-Group -Name $hosts -Member $members)
    $steps
    if ($null -ne (Find-Object -Name $account)) {
        Skip-Step -Target $account -Change 'create the account'
    } else {
        Invoke-Step -Target $account -Change 'create the account' -Action {
            $values = @{
                Name = $Name; DNSHostName = ($Name + '.' + (Get-ADDomain).DNSRoot); KerberosEncryptionType = 'AES128', 'AES256'
                PrincipalsAllowedToRetrieveManagedPassword = $hosts; Description = $made[$account]
            }
            New-ADServiceAccount @values
        }
    }
    Set-Group -Name $rights -Member @($account)
    foreach ($one in $members) {
        $added = 'add the member ' + $one
        if (@(foreach ($step in $steps) { if ($step.State -eq 'done' -and $step.Change -eq $added) { $step } }).Length -gt 0) {
            $why = ' before you run this script there with -Local: a computer learns of its groups when it starts.'
            $caller.WriteWarning('Restart ' + $one.TrimEnd('$') + $why)
        }
    }
}

if ($Delegate) {
    # Every place is checked before the first change.
    $directory = Get-ADDomain
    $who = $directory.NetBIOSName + '\' + $rights
    $root = $directory.DistinguishedName
    if ($Revoke -and $Scope.Length -gt 0) {
        Stop-Script -Text '-Revoke has no -Scope, as scopes share rights: it takes all rights on what -OU and -Zone name.' -Target $Scope
    }
    if (-not $Revoke -and $Scope.Length -eq 0) { Stop-Script -Text '-Delegate needs -Scope: what the service is to serve.' -Target $Name }
    $known = @(foreach ($grant in $grants) { $grant.Scopes })
    foreach ($one in $Scope) {
        if (-not ($known -contains $one)) { Stop-Script -Text ('No rights belong to the scope ' + $one + '.') -Target $one }
        foreach ($grant in $grants) {
            if (-not ($grant.Scopes -contains $one)) { continue }
            $missing = ($grant.On -eq 'OU' -and $OU.Length -eq 0) -or ($grant.On -eq 'Zone' -and $Zone.Length -eq 0)
            if ($missing) { Stop-Script -Text ('The scope ' + $one + ' needs -' + $grant.On + '.') -Target $one }
        }
    }
    foreach ($one in $OU) {
        if (-not (Test-Place -Target $one)) { Stop-Script -Text ('There is no OU ' + $one + '. Correct -OU.') -Target $one }
    }
    $places = @{
        OU = $OU; Zone = @(foreach ($one in $Zone) { Find-Zone -Zone $one -Root $root })
        Domain = @(); Deleted = @(); DNS = @(); Zones = @(); Group = @()
    }
    if (-not $Revoke -or $OU.Length + $Zone.Length -eq 0) {
        $places.Domain = @($root)
        $places.Deleted = @('CN=Deleted Objects,' + $root)
        $places.DNS = @('CN=MicrosoftDNS,CN=System,' + $root)
        $places.Zones = @('CN=MicrosoftDNS,DC=DomainDnsZones,' + $root)
    }
    $memberships = -not $Revoke -or $OU.Length + $Zone.Length -eq 0
    $chosen = @(foreach ($grant in $grants) {
        if ($Revoke -or @(foreach ($one in $Scope) { if ($grant.Scopes -contains $one) { $one } }).Length -gt 0) { $grant }
    })
    foreach ($grant in $chosen) {
        foreach ($target in @($places[$grant.On])) {
            if (-not $Revoke -and $grant.On -ne 'Group' -and -not (Test-Place -Target $target)) {
                Stop-Script -Text ('There is no ' + $target + ' in this domain, on which ' + ($grant.Scopes -join ', ') + ' need rights.') -Target $target
            }
        }
    }
    if (-not $Revoke -and $null -eq (Find-Object -Name $rights)) {
        Stop-Script -Text ('There is no group ' + $rights + '. Run this script with -Domain first.') -Target $rights
    }
    $names = Get-NameTable
    foreach ($grant in $grants) {
        if ($grant.On -ne 'Group') {
            foreach ($right in $grant.Rights) { $null = Convert-Right -Right $right -Inherit $grant.Inherit -Names $names }
        }
    }

    $revoked = @{}
    foreach ($grant in $chosen) {
        if ($grant.On -eq 'Group') {
            if (-not $memberships) { continue }
            foreach ($target in @($grant.Rights)) {
                $group = Find-Object -Name $target
                $own = Find-Object -Name $rights
                $member = $null -ne $group -and $null -ne $own -and @($group.member) -contains $own.DistinguishedName
                if ($Revoke -and $member) {
                    Invoke-Step -Target $target -Change ('remove the member ' + $rights) -Action { Remove-ADGroupMember -Identity $target -Members $rights -Confirm:$false }
                } elseif ($Revoke) {
                    Skip-Step -Target $target -Change ('remove the member ' + $rights)
                } elseif ($member) {
                    Skip-Step -Target $target -Change ('add the member ' + $rights)
                } else {
                    Invoke-Step -Target $target -Change ('add the member ' + $rights) -Action { Add-ADGroupMember -Identity $target -Members $rights }
                }
            }
            continue
        }
        foreach ($target in @($places[$grant.On])) {
            if (-not $Revoke) {
                foreach ($right in $grant.Rights) { Add-Right -Target $target -Account $who -Grant $grant -Right $right -Names $names }
            } elseif (-not $revoked.ContainsKey($target)) {
                $revoked[$target] = $true
                if (Test-Place -Target $target) {
                    Remove-Right -Target $target -Account $who -Grant @(foreach ($one in $grants) { if ($one.On -eq $grant.On) { $one } }) -Names $names
                    if ($grant.On -eq 'Deleted') { Skip-Step -Target $target -Change 'give the ownership back: dsacls cannot' -State 'skipped' }
                } else {
                    Skip-Step -Target $target -Change ('dsacls /R ' + $who)
                }
            }
        }
    }
}

if ($Local) {
    $rule = 'adgateway-' + [string]$Port
    $found = @(foreach ($one in @(Get-NetFirewallRule)) { if ($one.Name -eq $rule) { $one } }).Length -gt 0
    $usable = Test-ADServiceAccount -Identity $Name
    if ($Revoke) {
        if ($found) {
            Invoke-Step -Target $rule -Change 'remove the firewall rule' -Action { Remove-NetFirewallRule -Name $rule }
        } else {
            Skip-Step -Target $rule -Change 'remove the firewall rule'
        }
        if ($usable) {
            Invoke-Step -Target $account -Change 'remove the account from this computer' -Action { Uninstall-ADServiceAccount -Identity $Name -Confirm:$false }
        } else {
            Skip-Step -Target $account -Change 'remove the account from this computer'
        }
    } else {
        if ($usable) {
            Skip-Step -Target $account -Change 'use the account on this computer'
        } else {
            Invoke-Step -Target $account -Change 'use the account on this computer' -Action {
                try {
                    Install-ADServiceAccount -Identity $Name
                } catch {
                    $why = ' If -Domain named this computer since its last start, restart it and run -Local again.'
                    throw ('The account ' + $Name + '$ cannot be used here: ' + $_.Exception.Message + $why)
                }
            }
        }
        if ($found) {
            Skip-Step -Target $rule -Change ('allow TCP ' + [string]$Port + ' in the firewall')
        } else {
            Invoke-Step -Target $rule -Change ('allow TCP ' + [string]$Port + ' in the firewall') -Action {
                New-NetFirewallRule -Name $rule -DisplayName 'adgateway' -Direction 'Inbound' -Protocol 'TCP' -LocalPort $Port -Action 'Allow'
            }
        }
    }
}
