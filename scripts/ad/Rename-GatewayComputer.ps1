# Renames the directory object of a computer. The account, DNS name, service principal names and common name change
# together or not at all. The machine itself is not renamed (facts E48).
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [Parameter(Mandatory)] [string] $NewName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$computer = Find-GatewayComputer -Identity $Identity -Property $GatewayComputerProperties -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
$guid = [string]$computer.ObjectGUID
$dn = [string]$computer.DistinguishedName
$oldName = [string]$computer.Name
$oldSam = [string]$computer.SamAccountName
$oldDns = [string]$computer.dNSHostName
$oldSpns = [string[]]@(foreach ($spn in $computer.servicePrincipalName) { [string]$spn })

# Guard.
if (Test-GatewayController -Computer $computer) {
    Stop-Gateway -Code 'protected' -Arg 'Identity' -Message "'$oldName' is a domain controller; it is renamed with its own tools."
}
Assert-GatewayPrivilege -Object $computer -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'Identity'
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
Assert-GatewayNameFree -Account ($NewName + '$') -Name $NewName -Parent (Get-GatewayParentDn -Dn $dn) -Except $guid -Arg 'NewName' @limits

# A service principal name belongs to the machine if its host part is the old name, short or full. Keys are in upper
# case, because hashtable keys are compared by the current culture, and in a Turkish culture FILE1 does not equal
# file1.
$suffix = [string](Get-GatewayDomain -Server $Server).dns
if ($oldDns.Contains('.')) { $suffix = $oldDns.Substring($oldDns.IndexOf([char]'.') + 1) }
$newDns = ''
if ($oldDns -ne '') { $newDns = $NewName.ToLowerInvariant() + '.' + $suffix }
$newNames = @{}
$newNames[$oldName.ToUpperInvariant()] = $NewName
$newNames[$oldSam.TrimEnd([char]'$').ToUpperInvariant()] = $NewName
if ($oldDns -ne '') { $newNames[$oldDns.ToUpperInvariant()] = $newDns }
$seen = @{}
$newSpns = [string[]]@(foreach ($spn in $oldSpns) {
    $parts = $spn.Split([char[]]'/')
    if ($parts.Length -gt 1) {
        $hostAndPort = $parts[1].Split([char[]]':')
        $new = $newNames[$hostAndPort[0].ToUpperInvariant()]
        if ($null -ne $new) { $hostAndPort[0] = $new }
        $parts[1] = $hostAndPort -join ':'
    }
    $name = $parts -join '/'
    if (-not $seen.ContainsKey($name.ToUpperInvariant())) {
        $seen[$name.ToUpperInvariant()] = $true
        $name
    }
})

$sameName = $oldName.Equals($NewName, [System.StringComparison]::Ordinal)
$changed = -not ($sameName -and $oldSam.Equals($NewName + '$', [System.StringComparison]::Ordinal))

if ($changed) {
    $had = @{}
    foreach ($spn in $oldSpns) { $had[$spn.ToUpperInvariant()] = $true }
    $taken = [string[]]@(foreach ($spn in $newSpns) { if (-not $had.ContainsKey($spn.ToUpperInvariant())) { $spn } })
    $unique = @{ name = 'servicePrincipalName'; field = 'NewName'; values = $taken; unique = $true }
    Assert-GatewayAttribute -Attribute @($unique) -Except $guid @limits
}

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $computer
Add-GatewayIntent -Name 'sAMAccountName' -Before $oldSam -After ($NewName + '$')
Add-GatewayIntent -Name 'name' -Before $oldName -After $NewName
if ($changed) {
    Add-GatewayIntent -Name 'dNSHostName' -Before $oldDns -After $newDns
    Add-GatewayIntent -Name 'servicePrincipalName' -Before (Get-GatewayNameList -Name $oldSpns) -After (Get-GatewayNameList -Name $newSpns)
}
Write-GatewayIntent -Effect 'changed'

# Act.
if ($changed) {
    Set-GatewayStep -Label 'set names' -Arg 'NewName'
    Set-GatewayComputerName -Guid $guid -Sam ($NewName + '$') -Dns $newDns -Spns $newSpns -Server $Server
    $back = {
        param($Guid, $Sam, $Dns, $Spns, $Server)
        Set-GatewayComputerName -Guid $Guid -Sam $Sam -Dns $Dns -Spns $Spns -Server $Server
    }
    $old = @{ Guid = $guid; Sam = $oldSam; Dns = $oldDns; Spns = $oldSpns; Server = $Server }
    Complete-GatewayStep -Label 'set names' -Guid $guid -Dn $dn -Undo $back -Arguments $old
    if (-not $sameName) {
        Set-GatewayStep -Label 'rename computer' -Arg 'NewName'
        Rename-ADObject -Identity $guid -NewName $NewName -Server $Server -Confirm:$false
        $back = { param($Guid, $Name, $Server) Rename-ADObject -Identity $Guid -NewName $Name -Server $Server -Confirm:$false }
        Complete-GatewayStep -Label 'rename computer' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Name = $oldName; Server = $Server }
    }
    Complete-GatewayChange -Effect 'changed'
}

# Report.
$renamed = Find-GatewayAccount -Class 'computer' -Identity $guid -Property $GatewayComputerProperties -Arg 'Identity' -Write @limits
$record = ConvertTo-GatewayComputer -Computer @($renamed)
if ($changed) {
    $before = @{ computerName = $oldName; samName = $oldSam; dnsName = $oldDns }
    Add-GatewayChange -Guid $guid -Dn ([string]$renamed.DistinguishedName) -Before $before -After $record
}
$record
