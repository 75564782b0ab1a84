# What stands for this computer and for cmdlets that the sandbox does not have, while the script of
# 'adgateway rights --script' is run. dsacls.exe and the permissions that Get-ADObject shows are the test's.
$machine = @{ Key = $false; Usable = $false; Member = $true; Rules = @{} }
$exitCode = 0

function Get-KdsRootKey { if ($machine.Key) { 'key' } }
function Add-KdsRootKey {
    param([switch] $EffectiveImmediately)
    $machine.Key = $true
    'the id of the key'
}

function New-ADServiceAccount {
    param([string] $Name, [string] $DNSHostName, [string[]] $KerberosEncryptionType,
        [string] $PrincipalsAllowedToRetrieveManagedPassword, [string] $Description)
    New-ADComputer -Name $Name -SAMAccountName ($Name + '$') -DNSHostName $DNSHostName -Description $Description
}
function Remove-ADServiceAccount {
    [CmdletBinding(SupportsShouldProcess = $true)]
    param([string] $Identity)
    Remove-ADComputer -Identity $Identity -Confirm:$false
}
function Test-ADServiceAccount {
    param([string] $Identity)
    $machine.Usable
}
function Install-ADServiceAccount {
    param([string] $Identity)
    if (-not $machine.Member) { throw 'Access Denied.' }
    $machine.Usable = $true
}
function Uninstall-ADServiceAccount {
    [CmdletBinding(SupportsShouldProcess = $true)]
    param([string] $Identity)
    $machine.Usable = $false
}

function Get-NetFirewallRule {
    foreach ($name in @($machine.Rules.Keys)) { if ($machine.Rules[$name]) { @{ Name = $name } } }
}
function New-NetFirewallRule {
    param([string] $Name, [string] $DisplayName, [string] $Direction, [string] $Protocol, [int] $LocalPort, [string] $Action)
    if ($machine.Rules[$Name]) { throw 'the rule is there' }
    $machine.Rules[$Name] = $LocalPort
    'the rule'
}
function Remove-NetFirewallRule {
    param([string] $Name)
    if (-not $machine.Rules[$Name]) { throw 'there is no such rule' }
    $machine.Rules[$Name] = 0
}
