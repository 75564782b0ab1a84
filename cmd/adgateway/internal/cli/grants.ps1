# Gives the account of adgateway the rights that it needs, step by step, and takes them back with -Revoke. -WhatIf shows
# each step and changes nothing; every change asks first, unless -Confirm:$false is given. May run again: what is there
# already stays. Ends with one object for each step.
#
#   -Forest               a domain controller's key for managed accounts, once in the forest. Enterprise Admins.
#   -Domain -HostName GW1 the account, the group of its hosts, and the group of its rights. Domain Admins.
#   -Delegate -Scope ...  rights on OUs, zones and the Recycle Bin. Domain Admins, or whoever controls them.
#   -Local                the account on this computer, and the firewall. Administrators of this computer.
[CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'High')]
param(
    [Parameter(Mandatory = $true, ParameterSetName = 'Forest')] [switch] $Forest,
    [Parameter(Mandatory = $true, ParameterSetName = 'Domain')] [switch] $Domain,
    [Parameter(Mandatory = $true, ParameterSetName = 'Delegate')] [switch] $Delegate,
    [Parameter(Mandatory = $true, ParameterSetName = 'Local')] [switch] $Local,
    [Parameter(Mandatory = $true, ParameterSetName = 'Domain')] [string[]] $HostName,
    [Parameter(Mandatory = $true, ParameterSetName = 'Delegate')] [string[]] $Scope,
    [Parameter(ParameterSetName = 'Delegate')] [string[]] $OU = @(),
    [Parameter(ParameterSetName = 'Delegate')] [string[]] $Zone = @(),
    [Parameter(ParameterSetName = 'Local')] [int] $Port = 8443,
    [string] $Name = 'adgateway',
    [switch] $Revoke
)

$ErrorActionPreference = 'Stop'
$rights = $Name + '-rights'
$hosts = $Name + '-hosts'

# Who gets which right where: On is a placeholder, Rights are those of dsacls.
$grants = @(
    # GRANTS
)

# What the functions below ask with -WhatIf and -Confirm.
$caller = $PSCmdlet

# Runs a change after it was asked for, and returns what became of it.
function Invoke-Step {
    param([string] $Target, [string] $Change, [scriptblock] $Action)
    $state = 'not done'
    if ($caller.ShouldProcess($Target + ': ' + $Change)) {
        & $Action
        $state = 'done'
    }
    [PSCustomObject]@{ Target = $Target; Change = $Change; State = $state }
}

# Returns a step that has nothing to do.
function Skip-Step {
    param([string] $Target, [string] $Change)
    [PSCustomObject]@{ Target = $Target; Change = $Change; State = 'there already' }
}

# Changes the permissions of an object with dsacls, whose messages are in the error.
function Set-Right {
    param([string] $Target, [string[]] $Argument)
    Invoke-Step -Target $Target -Change ('dsacls ' + ($Argument -join ' ')) -Action {
        $said = @(dsacls.exe $Target @Argument)
        if ($LASTEXITCODE -ne 0) { throw ('dsacls ' + $Target + ': ' + ($said -join ' ')) }
    }
}

# Returns an account or group by its name, $null if there is none.
function Find-Object {
    param([string] $Name)
    Get-ADObject -LDAPFilter ('(sAMAccountName=' + $Name + ')')
}

# Creates a group unless there is one, and adds members that it lacks.
function Set-Group {
    param([string] $Name, [string] $Text, [string[]] $Member)
    if ($null -ne (Find-Object -Name $Name)) {
        Skip-Step -Target $Name -Change 'create the group'
    } else {
        Invoke-Step -Target $Name -Change 'create the group' -Action { New-ADGroup -Name $Name -GroupScope 'Global' -Description $Text }
    }
    foreach ($one in $Member) {
        Invoke-Step -Target $Name -Change ('add the member ' + $one) -Action { Add-ADGroupMember -Identity $Name -Members $one }
    }
}

if ($Forest) {
    if (@(Get-KdsRootKey).Length -gt 0) {
        Skip-Step -Target 'the forest' -Change 'create the key for managed accounts'
    } else {
        Invoke-Step -Target 'the forest' -Change 'create the key for managed accounts, which can be used in 10 hours' -Action { Add-KdsRootKey -EffectiveImmediately }
    }
}

if ($Domain) {
    $members = @(foreach ($computer in $HostName) { $computer.Split('.')[0] + '$' })
    if ($Revoke) {
        foreach ($group in @($rights, $hosts)) {
            Invoke-Step -Target $group -Change 'remove the group' -Action { Remove-ADGroup -Identity $group -Confirm:$false }
        }
        Invoke-Step -Target ($Name + '$') -Change 'remove the account' -Action { Remove-ADServiceAccount -Identity $Name -Confirm:$false }
    } else {
        Set-Group -Name $hosts -Text 'Computers that run adgateway' -Member $members
        if ($null -ne (Find-Object -Name ($Name + '$'))) {
            Skip-Step -Target ($Name + '$') -Change 'create the account'
        } else {
            Invoke-Step -Target ($Name + '$') -Change 'create the account' -Action {
                $account = @{
                    Name = $Name; DNSHostName = ($Name + '.' + (Get-ADDomain).DNSRoot); KerberosEncryptionType = 'AES128', 'AES256'
                    PrincipalsAllowedToRetrieveManagedPassword = $hosts
                }
                New-ADServiceAccount @account
            }
        }
        Set-Group -Name $rights -Text 'Rights of adgateway' -Member @($Name + '$')
    }
}

if ($Delegate) {
    $known = @(foreach ($grant in $grants) { $grant.Scopes })
    foreach ($one in $Scope) { if (-not ($known -contains $one)) { throw ('no rights belong to the scope ' + $one) } }
    if ($OU.Length + $Zone.Length -eq 0) { throw 'name at least one -OU or -Zone' }
    $directory = Get-ADDomain
    $who = $directory.NetBIOSName + '\' + $rights
    $root = $directory.DistinguishedName
    $places = @{
        OU      = $OU
        Domain  = @($root)
        Deleted = @('CN=Deleted Objects,' + $root)
        DNS     = @('CN=MicrosoftDNS,CN=System,' + $root)
        Zone    = @(foreach ($one in $Zone) { 'DC=' + $one + ',CN=MicrosoftDNS,DC=DomainDnsZones,' + $root })
        Zones   = @('CN=MicrosoftDNS,DC=DomainDnsZones,' + $root)
    }
    $revoked = @{}
    foreach ($grant in $grants) {
        if (@(foreach ($one in $Scope) { if ($grant.Scopes -contains $one) { $one } }).Length -eq 0) { continue }
        if ($grant.On -eq 'Group') {
            Invoke-Step -Target $grant.Rights[0] -Change ('member ' + $rights) -Action {
                if ($Revoke) { Remove-ADGroupMember -Identity $grant.Rights[0] -Members $rights -Confirm:$false }
                else { Add-ADGroupMember -Identity $grant.Rights[0] -Members $rights }
            }
            continue
        }
        foreach ($target in $places[$grant.On]) {
            if ($Revoke) {
                if (-not $revoked.ContainsKey($target)) { Set-Right -Target $target -Argument @('/R', $who) }
                $revoked[$target] = $true
                continue
            }
            if ($grant.On -eq 'Deleted') { Set-Right -Target $target -Argument @('/takeownership') }
            foreach ($right in $grant.Rights) {
                $inherit = @(if ($grant.Inherit -ne '') { $grant.Inherit })
                Set-Right -Target $target -Argument ($inherit + @('/G', ($who + ':' + $right)))
            }
        }
    }
}

if ($Local) {
    $rule = 'adgateway-' + [string]$Port
    if ($Revoke) {
        Invoke-Step -Target $rule -Change 'remove the firewall rule' -Action { Remove-NetFirewallRule -Name $rule }
        Invoke-Step -Target ($Name + '$') -Change 'remove the account from this computer' -Action { Uninstall-ADServiceAccount -Identity $Name -Confirm:$false }
    } else {
        if (Test-ADServiceAccount -Identity $Name) {
            Skip-Step -Target ($Name + '$') -Change 'use the account on this computer'
        } else {
            Invoke-Step -Target ($Name + '$') -Change 'use the account on this computer' -Action { Install-ADServiceAccount -Identity $Name }
        }
        if (@(foreach ($one in @(Get-NetFirewallRule)) { if ($one.Name -eq $rule) { $one } }).Length -gt 0) {
            Skip-Step -Target $rule -Change 'allow the port in the firewall'
        } else {
            Invoke-Step -Target $rule -Change ('allow TCP ' + [string]$Port + ' in the firewall') -Action {
                New-NetFirewallRule -Name $rule -DisplayName 'adgateway' -Direction 'Inbound' -Protocol 'TCP' -LocalPort $Port -Action 'Allow'
            }
        }
    }
}
