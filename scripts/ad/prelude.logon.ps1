# Functions shared by the scripts for logons and password policies.

# The number of ticks of 100 ns in a minute.
$GatewayTicksOfMinute = [long]600000000

# Converts an age. Ages in the directory are negative numbers of 100 ns. 0 and the smallest number mean none.
function Get-GatewayAgeIn {
    [CmdletBinding()]
    param([AllowNull()] [object] $Value, [Parameter(Mandatory)] [long] $Ticks)
    $age = [long]$Value
    if ($age -ge 0 -or $age -lt -9000000000000000000) { return [int]0 }
    [int](Get-GatewayQuotient -Number (0 - $age) -By $Ticks)
}

# Returns the password policy of a user. It comes from a password settings object or from the domain. If User is
# null, it is the policy for new users. Source is 'unknown' if a policy applies that the service account may not
# read (facts S23).
function Get-GatewayPolicy {
    [CmdletBinding()]
    param([AllowNull()] [object] $User, [Parameter(Mandatory)] [string] $Server)
    $day = [long]864000000000
    $minute = $GatewayTicksOfMinute
    $root = (Get-GatewayDomain -Server $Server).dn
    $resultant = ''
    if ($null -ne $User) { $resultant = [string]$User.PSObject.Properties['msDS-ResultantPSO'].Value }
    if ($resultant -ne '') {
        $names = @(
            'msDS-MinimumPasswordLength', 'msDS-PasswordComplexityEnabled', 'msDS-PasswordHistoryLength', 'msDS-MinimumPasswordAge'
            'msDS-MaximumPasswordAge', 'msDS-LockoutThreshold', 'msDS-LockoutObservationWindow', 'msDS-LockoutDuration'
        )
        $filter = '(&(objectClass=msDS-PasswordSettings)(distinguishedName=' + (Get-GatewayLdapEscaped -Value $resultant) + '))'
        $own = @(Get-GatewayObject -Class 'any' -Filter $filter -Property $names -Base $root -Server $Server)[0]
        if ($null -eq $own -or $null -eq $own.PSObject.Properties['msDS-MinimumPasswordLength'].Value) {
            $name = $resultant -replace '^CN=((?:[^,\\]|\\.)+),.*$', '$1'
            return @{ name = $name; source = 'unknown' }
        }
        return @{
            name = [string]$own.Name; source = 'pso'
            minLength = [int]$own.PSObject.Properties['msDS-MinimumPasswordLength'].Value
            complexity = [bool]$own.PSObject.Properties['msDS-PasswordComplexityEnabled'].Value
            historyCount = [int]$own.PSObject.Properties['msDS-PasswordHistoryLength'].Value
            minAge = Get-GatewayAgeIn -Value $own.PSObject.Properties['msDS-MinimumPasswordAge'].Value -Ticks $day
            maxAge = Get-GatewayAgeIn -Value $own.PSObject.Properties['msDS-MaximumPasswordAge'].Value -Ticks $day
            lockoutThreshold = [int]$own.PSObject.Properties['msDS-LockoutThreshold'].Value
            lockoutWindow = Get-GatewayAgeIn -Value $own.PSObject.Properties['msDS-LockoutObservationWindow'].Value -Ticks $minute
            lockoutDuration = Get-GatewayAgeIn -Value $own.PSObject.Properties['msDS-LockoutDuration'].Value -Ticks $minute
        }
    }
    $names = @(
        'minPwdLength', 'pwdProperties', 'pwdHistoryLength', 'minPwdAge', 'maxPwdAge', 'lockoutThreshold', 'lockOutObservationWindow', 'lockoutDuration'
    )
    $domain = @(Get-GatewayObject -Class 'any' -Filter '(objectClass=domainDNS)' -Property $names -Base $root -Scope 'Base' -Server $Server)[0]
    if ($null -eq $domain -or $null -eq $domain.minPwdLength) { return @{ name = 'Default Domain Policy'; source = 'unknown' } }
    @{
        name = 'Default Domain Policy'; source = 'domain'
        minLength = [int]$domain.minPwdLength
        complexity = ([long]$domain.pwdProperties -band 1) -ne 0
        historyCount = [int]$domain.pwdHistoryLength
        minAge = Get-GatewayAgeIn -Value $domain.minPwdAge -Ticks $day
        maxAge = Get-GatewayAgeIn -Value $domain.maxPwdAge -Ticks $day
        lockoutThreshold = [int]$domain.lockoutThreshold
        lockoutWindow = Get-GatewayAgeIn -Value $domain.lockOutObservationWindow -Ticks $minute
        lockoutDuration = Get-GatewayAgeIn -Value $domain.lockoutDuration -Ticks $minute
    }
}

# Warns that a policy applies that cannot be read.
function Add-GatewayUnreadable {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Policy)
    if ($Policy['source'] -ne 'unknown') { return }
    $message = "The password policy '$($Policy['name'])' applies, which the service account may not read."
    Add-GatewayWarning -Code 'policy_unreadable' -Target ([string]$Policy['name']) -Message $message
}

# Returns one reason for or against a logon.
function New-GatewayVerdict {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Code,
        [Parameter(Mandatory)] [string] $Text,
        [string] $Since = '',
        [string] $Until = ''
    )
    $verdict = [ordered]@{ code = [string]$Code; since = $null; until = $null; text = [string]$Text }
    if ($Since -ne '') { $verdict['since'] = [string]$Since }
    if ($Until -ne '') { $verdict['until'] = [string]$Until }
    $verdict
}

# Returns a record about the place where a user was locked out or used wrong passwords.
function New-GatewayLockout {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [ValidateSet('lockout', 'badPassword')] [string] $Kind,
        [string] $Time = '',
        [string] $Source = '',
        [Parameter(Mandatory)] [string] $Controller,
        [int] $Count = 0
    )
    $record = [ordered]@{ time = $null; kind = [string]$Kind; source = $null; controller = [string]$Controller; count = $null }
    if ($Time -ne '') { $record['time'] = [string]$Time }
    if ($Source -ne '') { $record['source'] = [string]$Source }
    if ($Kind -eq 'badPassword') { $record['count'] = [int]$Count }
    $record
}

# Returns the lockouts of an account in the last hours from the log of the PDC emulator, the newest first. They are
# events 4740, whose second value is the computer that sent the wrong passwords (facts S43). $null, with a warning,
# if the log cannot be read.
function Get-GatewayLockoutEvent {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Sid, [Parameter(Mandatory)] [int] $Hours, [Parameter(Mandatory)] [string] $Pdc)
    Set-GatewayStep -Label 'read event log'
    $age = [string]([long]$Hours * 3600000)
    $xpath = "*[System[EventID=4740 and TimeCreated[timediff(@SystemTime) <= $age]] and EventData[Data[@Name='TargetSid']='$Sid']]"
    $records = [System.Collections.Generic.List[object]]::new()
    try {
        foreach ($entry in @(Get-WinEvent -ComputerName $Pdc -LogName 'Security' -FilterXPath $xpath -MaxEvents 100)) {
            $time = ([datetime]$entry.TimeCreated).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant)
            $records.Add((New-GatewayLockout -Kind 'lockout' -Time $time -Source ([string]$entry.Properties[1].Value) -Controller $Pdc))
        }
    } catch {
        # If no event matches, that is an error, too (facts S44).
        if (-not ([string]$_.FullyQualifiedErrorId).StartsWith('NoMatchingEventsFound', [System.StringComparison]::Ordinal)) {
            $message = "The log of the PDC emulator '$Pdc', which has the lockouts, cannot be read: the gateway's account must be a " +
                'member of Event Log Readers there, and the firewall must allow it.'
            Add-GatewayWarning -Code 'log_unreadable' -Target $Pdc -Message $message
            return $null
        }
    }
    , $records.ToArray()
}
