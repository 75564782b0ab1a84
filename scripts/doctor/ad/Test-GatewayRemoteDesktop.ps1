# Tests whether Windows itself can read the Remote Desktop settings that the gateway writes. It uses the properties
# of the extension for directory entries, which not every edition has (facts F2, F4).
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

New-ADUser -Name ($Prefix + 'w1') -SamAccountName ($Prefix + 'w1') -Path $Base -Server $Server -Confirm:$false
$guid = [string](Get-ADUser -Identity ($Prefix + 'w1') -Server $Server).ObjectGUID
$given = @{ RdsProfilePath = '\\server\profiles\user'; RdsHomeFolderPath = '\\server\home\user'; RdsHomeFolderDrive = 'Z:' }
$given['RdsAllowLogon'] = $false
$given['RdsConnectDrive'] = $true
$packed = ConvertTo-GatewayUserParameters -Text '' -Given $given
Set-GatewayUserParameters -Guid $guid -Old '' -New $packed -Server $Server
$entry = Open-GatewayEntry -Guid $guid -Server $Server
try {
    foreach ($case in @(
            @{ name = 'TerminalServicesProfilePath'; value = '\\server\profiles\user' },
            @{ name = 'TerminalServicesHomeDirectory'; value = '\\server\home\user' },
            @{ name = 'TerminalServicesHomeDrive'; value = 'Z:' },
            @{ name = 'AllowLogon'; value = '0' },
            @{ name = 'ConnectClientDrivesAtLogon'; value = '1' })) {
        Test-GatewayFact -Fact $case.name -Action {
            try {
                $read = [string]$entry.InvokeGet($case.name)
                if ([string]::Equals($read, $case.value, [System.StringComparison]::Ordinal)) { return 'as written' }
                "'" + $read + "' instead of '" + $case.value + "'"
            } catch {
                # 0x80020006: a host without the extension does not know the name.
                if ((Get-GatewayErrorCode -Record $_) -ne '-2147352570') { throw }
                'not tried: this host has no extension for these properties'
            }
        }
    }
} finally {
    $entry.Dispose()
}
