# Reads the password of a computer's local administrator that LAPS manages. The password is sent as a secret,
# because no parameter of a command may contain it in clear text.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [bool] $History = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

$properties = $GatewayGuardProperties + @('userAccountControl')
$computer = Find-GatewayComputer -Identity $Identity -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
$guid = [string]$computer.ObjectGUID
Assert-GatewayRevealing -Computer $computer -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'Identity'

$laps = Get-GatewayLaps -Guid $guid -Server $Server
if ($laps.kind -eq 'none') { Stop-GatewayUnmanaged -Computer $computer -Arg 'Identity' }
$record = [ordered]@{
    guid              = [string]$guid
    computerName      = [string]$computer.Name
    distinguishedName = [string]$computer.DistinguishedName
    source            = 'windows'
    account           = ''
    password          = ''
    updated           = ''
    expires           = [string](Get-GatewayFileTime -Value $laps.ticks)
    history           = @()
}

Set-GatewayStep -Label 'read password' -Arg 'Identity'
$name = 'msLAPS-Password'
if ($laps.kind -eq 'legacy') { $name = 'ms-Mcs-AdmPwd' }
$sealed = [string](Add-GatewayStoredSecret -Object (Find-GatewayAdded -Guid $guid -Name $name -Server $Server) -Name $name)
$encrypted = $null
if ($sealed -eq '' -and $laps.kind -eq 'windows') {
    $found = Find-GatewayAdded -Guid $guid -Name 'msLAPS-EncryptedPassword' -Server $Server
    if ($null -ne $found) { $encrypted = $found.PSObject.Properties['msLAPS-EncryptedPassword'].Value }
}
if ($sealed -eq '' -and $null -eq $encrypted) { Stop-GatewayUnreadable -Attribute $name -Arg 'Identity' }

if ($sealed -ne '') {
    $record['password'] = [string]$sealed
    if ($laps.kind -eq 'windows') {
        $record['account'] = [string]($sealed + '.n')
        $record['password'] = [string]($sealed + '.p')
        $record['updated'] = [string]($sealed + '.t')
    } else {
        $record['source'] = 'legacy'
    }
    if ($History) {
        Add-GatewayWarning -Code 'no_history' -Target 'history' -Message 'Only encrypted passwords have a history: earlier ones are not kept.'
    }
} else {
    $record['source'] = 'windowsEncrypted'
    $earlier = [System.Collections.Generic.List[object]]::new()
    $dn = [string]$computer.DistinguishedName
    foreach ($one in @(Get-GatewayDecrypted -Dn $dn -History $History -Server $Server -Arg 'Identity')) {
        $item = [ordered]@{ account = [string]('=' + [string]$one.Account); password = ''; updated = '' }
        if ($null -ne $one.PasswordUpdateTime) {
            $at = ([datetime]$one.PasswordUpdateTime).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant)
            $item['updated'] = [string]('=' + $at)
        }
        if ($null -eq $one.Password -or [string]$one.DecryptionStatus -eq 'Unauthorized') {
            Add-GatewayWarning -Code 'not_decrypted' -Target 'history' -Message 'An earlier password is encrypted for others, and left out.'
        } else {
            $item['password'] = [string](Add-GatewaySecret -Secret $one.Password)
            if ([string]$one.Source -eq 'EncryptedPasswordHistory') {
                $earlier.Add($item)
            } else {
                foreach ($field in @('account', 'password', 'updated')) { $record[$field] = [string]$item[$field] }
            }
        }
    }
    $record['history'] = $earlier.ToArray()
    if ([string]$record['password'] -eq '') { Stop-GatewayUnreadable -Attribute 'msLAPS-EncryptedPassword' -Arg 'Identity' }
}
$record
