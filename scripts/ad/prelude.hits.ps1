# Functions of the search over types.

# Returns the field of the record in which a text is found in an object, and the quality of the hit: '0' if the text
# equals a value that identifies the object, '1' if a name begins with it, '2' otherwise.
function Get-GatewayMatch {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Item,
        [Parameter(Mandatory)] [string] $Text,
        [Parameter(Mandatory)] [string] $Type
    )
    $same = [System.StringComparison]::OrdinalIgnoreCase
    $account = [string]$Item.sAMAccountName
    $mail = [string]$Item.mail
    $principal = [string]$Item.userPrincipalName
    if ($account.Equals($Text, $same) -or $account.Equals($Text + '$', $same)) { return @{ rank = '0'; field = 'username' } }
    if ($mail.Equals($Text, $same)) { return @{ rank = '0'; field = 'emailAddress' } }
    if ($principal.Equals($Text, $same)) { return @{ rank = '0'; field = 'userPrincipalName' } }
    if ($account.StartsWith($Text, $same)) { return @{ rank = '1'; field = 'username' } }
    if (([string]$Item.Name).StartsWith($Text, $same)) { return @{ rank = '1'; field = 'name' } }
    if (([string]$Item.displayName).StartsWith($Text, $same)) { return @{ rank = '1'; field = 'displayName' } }
    if (([string]$Item.givenName).StartsWith($Text, $same)) { return @{ rank = '1'; field = 'firstName' } }
    if (([string]$Item.sn).StartsWith($Text, $same)) { return @{ rank = '1'; field = 'lastName' } }
    if ($mail.StartsWith($Text, $same)) { return @{ rank = '2'; field = 'emailAddress' } }
    if ($principal.StartsWith($Text, $same)) { return @{ rank = '2'; field = 'userPrincipalName' } }
    if (([string]$Item.physicalDeliveryOfficeName).StartsWith($Text, $same)) { return @{ rank = '2'; field = 'office' } }
    if (([string]$Item.employeeID).Equals($Text, $same)) { return @{ rank = '2'; field = 'employeeId' } }
    foreach ($address in @($Item.proxyAddresses)) {
        if ($null -ne $address -and ([string]$address).StartsWith($Text, $same)) { return @{ rank = '2'; field = 'proxyAddress' } }
    }
    @{ rank = '2'; field = '' }
}

# Returns the best match of an object with one of the ways to write a text. Rank '3' means that the text is
# inside of a word. The rank is empty if the text does not match and no phone number contains the digits.
function Get-GatewayBestMatch {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Item,
        [Parameter(Mandatory)] [string[]] $Text,
        [AllowEmptyString()] [string] $Digit,
        [bool] $Inside,
        [Parameter(Mandatory)] [string] $Type
    )
    $best = @{ rank = '9'; field = '' }
    foreach ($spelling in $Text) {
        $match = Get-GatewayMatch -Item $Item -Text $spelling -Type $Type
        if ($match.field -ne '' -and [int]$match.rank -lt [int]$best.rank) { $best = $match }
    }
    if ($best.field -ne '') { return $best }
    # The directory compares names without accents, and searches further attributes.
    if (-not $Inside) { return @{ rank = '2'; field = 'name' } }
    $places = [ordered]@{
        name = 'Name'; displayName = 'displayName'; username = 'sAMAccountName'; emailAddress = 'mail'; userPrincipalName = 'userPrincipalName'
        office = 'physicalDeliveryOfficeName'; department = 'department'; jobTitle = 'title'; dnsHostName = 'dNSHostName'; description = 'description'
    }
    foreach ($field in $places.Keys) {
        $value = ([string]@($Item.PSObject.Properties[$places[$field]].Value)[0]).ToUpperInvariant()
        foreach ($spelling in $Text) {
            if ($value.Contains($spelling.ToUpperInvariant())) { return @{ rank = '3'; field = $field } }
        }
    }
    if (-not $Digit) { return @{ rank = '3'; field = 'name' } }
    foreach ($number in @{ field = 'officePhone'; text = [string]$Item.telephoneNumber }, @{ field = 'mobilePhone'; text = [string]$Item.mobile }) {
        if (($number.text -replace '[^0-9]', '').Contains($Digit)) { return @{ rank = '3'; field = $number.field } }
    }
    @{ rank = ''; field = '' }
}

# Returns which of the users are locked out now, by GUID. The time of a lockout remains after its end, so the domain
# controller is asked, but only about users that have such a time (facts H12, S20).
function Get-GatewayLocked {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $User,
        [Parameter(Mandatory)] [string] $Base,
        [Parameter(Mandatory)] [string] $Server
    )
    $locked = @{}
    $guids = [System.Collections.Generic.List[string]]::new()
    foreach ($one in $User) { if ([long]$one.lockoutTime -gt 0) { $guids.Add([string]$one.ObjectGUID) } }
    if ($guids.Count -gt 0) {
        foreach ($one in @(Get-GatewayObjectAgain -Guid $guids.ToArray() -Property 'msDS-User-Account-Control-Computed' -Base $Base -Server $Server)) {
            if (([long]$one.PSObject.Properties['msDS-User-Account-Control-Computed'].Value -band 0x10) -ne 0) { $locked[[string]$one.ObjectGUID] = $true }
        }
    }
    $locked
}

# Writes the record of a hit.
function ConvertTo-GatewayHit {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $Item,
        [Parameter(Mandatory)] [string] $Type,
        [Parameter(Mandatory)] [string] $Matched,
        [Parameter(Mandatory)] [hashtable] $Locked
    )
    $enabled = $null
    if ($Type -ne 'group') { $enabled = ([long]$Item.userAccountControl -band 2) -eq 0 }
    $out = $null
    if ($Type -eq 'user') { $out = [bool]$Locked.ContainsKey([string]$Item.ObjectGUID) }
    [ordered]@{
        type         = [string]$Type
        guid         = [string]$Item.ObjectGUID
        name         = [string]$Item.Name
        username     = [string]$Item.sAMAccountName
        displayName  = [string]$Item.displayName
        emailAddress = [string]$Item.mail
        description  = [string]@($Item.description)[0]
        ouPath       = [string](Get-GatewayParentDn -Dn ([string]$Item.DistinguishedName))
        enabled      = $enabled
        locked       = $out
        matched      = [string]$Matched
    }
}
