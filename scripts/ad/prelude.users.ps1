# Functions shared by the scripts for users. They are loaded after the preludes of the session and of the directory.

# The directory properties that each field of a user's record needs.
$GatewayUserProperties = @{
    firstName              = @('givenName')
    initials               = @('initials')
    lastName               = @('sn')
    displayName            = @('displayName')
    description            = @('description')
    emailAddress           = @('mail')
    department             = @('department')
    office                 = @('physicalDeliveryOfficeName')
    company                = @('company')
    jobTitle               = @('title')
    manager                = @('manager')
    streetAddress          = @('streetAddress')
    streetPoBox            = @('postOfficeBox')
    city                   = @('l')
    state                  = @('st')
    postalCode             = @('postalCode')
    country                = @('c')
    officePhone            = @('telephoneNumber')
    homePhone              = @('homePhone')
    mobilePhone            = @('mobile')
    profilePath            = @('profilePath')
    profileLogonScript     = @('scriptPath')
    homeFolderPath         = @('homeDirectory')
    homeFolderDrive        = @('homeDrive')
    homeFolderDirectory    = @('homeDirectory')
    rdsProfilePath         = @('userParameters')
    rdsHomeFolderPath      = @('userParameters')
    rdsHomeFolderDrive     = @('userParameters')
    rdsConnectDrive        = @('userParameters')
    rdsAllowLogon          = @('userParameters')
    lockedOut              = @('LockedOut')
    changePasswordNextLogon = @('pwdLastSet', 'userAccountControl')
    passwordNeverExpired   = @('userAccountControl')
    passwordLastSet        = @('pwdLastSet')
    accountExpires         = @('accountExpires')
    created                = @('whenCreated')
    modified               = @('whenChanged')
}

# The lists of fields that this session has parsed, by server and list.
$script:GatewayUserFields = @{}

# Returns the fields of records, and the properties to read for them. A list is parsed once per session, because most
# requests have the same ones. Lines are attributes: those that begin with + are only read for the entity tag, and only
# those that users of this forest may have.
function ConvertFrom-GatewayUserField {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string[]] $Field, [string] $Server)
    $key = $Server + '|' + ($Field -join '|')
    $parsed = $script:GatewayUserFields[$key]
    if ($null -ne $parsed) { return $parsed }
    $want = @{}
    $needed = @{}
    $lines = [System.Collections.Generic.List[string]]::new()
    $covered = [System.Collections.Generic.List[string]]::new()
    $known = $null
    foreach ($text in $Field) {
        if (-not $text.Contains($GatewayAttributeMark)) {
            $want[$text] = $true
            foreach ($property in $GatewayUserProperties[$text]) { $needed[$property] = $true } # none for $null
            continue
        }
        if (-not $text.StartsWith('+', [System.StringComparison]::Ordinal)) { $lines.Add($text); continue }
        if ($null -eq $known) { $known = Get-GatewayUserSchema -Server $Server }
        $name = $text.Substring(1, $text.IndexOf([char]29) - 1)
        if ($known.ContainsKey($name.ToLowerInvariant())) { $covered.Add($name) }
    }
    $further = @()
    if ($lines.Count -gt 0) { $further = @(ConvertFrom-GatewayAttribute -Line $lines.ToArray()) }
    foreach ($one in $further) { $needed[$one.name] = $true }
    foreach ($name in $covered) { $needed[$name] = $true }
    $parsed = @{
        want       = $want
        packed     = @($Field -like 'rds*').Length -gt 0
        all        = $want.Count -eq 46 -and $further.Length -eq 0 # every field that is always there
        further    = $further
        tagged     = $null -ne $known
        covered    = $covered.ToArray()
        properties = [string[]]@($needed.Keys)
    }
    if ($script:GatewayUserFields.Count -ge 16) { $script:GatewayUserFields = @{} }
    $script:GatewayUserFields[$key] = $parsed
    $parsed
}

# Returns the attributes that users of this forest may have, in lower case. They are read once per session, like the
# result of Get-GatewayDomain.
function Get-GatewayUserSchema {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    $domain = Get-GatewayDomain -Server $Server
    if ($null -eq $domain.userSchema) {
        $known = @{}
        $filter = '(objectSid=' + (Get-GatewayLdapEscaped -Value ($domain.sid + '-500')) + ')'
        foreach ($user in @(Get-GatewayObject -Class 'any' -Filter $filter -Property @('allowedAttributes') -Base $domain.dn -Server $Server)) {
            foreach ($name in @($user.allowedAttributes)) { if ($null -ne $name) { $known[([string]$name).ToLowerInvariant()] = $true } }
        }
        $domain['userSchema'] = $known
    }
    $domain.userSchema
}

# Writes the records of users, with the requested fields only. It takes many users at once, because a function call
# per user costs more than the conversion. Managers outside the caller's limits are left out.
function ConvertTo-GatewayUser {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $User,
        [Parameter(Mandatory)] [hashtable] $Field,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [string] $Server
    )
    $bases = Get-GatewayAllowedDn -AllowedOU $AllowedOU -Server $Server
    $want = $Field.want
    # The five Remote Desktop fields are sent as one member. The gateway decodes it, because decoding it here
    # would cost milliseconds per user.
    $wantPacked = $Field.packed
    $further = $Field.further
    $tagged = $Field.tagged
    $covered = $Field.covered
    $wantAll = $Field.all
    foreach ($item in $User) {
        $dn = [string]$item.DistinguishedName
        $manager = [string]$item.manager
        if ($null -ne $bases -and $manager -ne '' -and -not (Test-GatewayWithin -Dn $manager -Base $bases)) { $manager = '' }
        $flags = [int]$item.userAccountControl
        $neverExpires = ($flags -band 0x10000) -ne 0
        # As Get-GatewayFileTime, without its call.
        $lastSet = ''
        $expires = ''
        $ticks = [long]$item.pwdLastSet # $null is 0
        if ($ticks -gt 0 -and $ticks -le $GatewayMaxFileTime) {
            $lastSet = [DateTime]::FromFileTimeUtc($ticks).ToString($GatewayDateFormat, $GatewayInvariant)
        }
        $ticks = [long]$item.accountExpires
        if ($ticks -gt 0 -and $ticks -le $GatewayMaxFileTime) {
            $expires = [DateTime]::FromFileTimeUtc($ticks).ToString($GatewayDateFormat, $GatewayInvariant)
        }
        $created = $item.whenCreated # absent if the account may not read it
        if ($null -ne $created) { $created = ([datetime]$created).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        $modified = $item.whenChanged
        if ($null -ne $modified) { $modified = ([datetime]$modified).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        $packed = [string]$item.userParameters
        if ($packed.Length -gt 0) {
            $packed = [string]$item.ObjectGUID + ' ' + [Convert]::ToBase64String([System.Text.Encoding]::Unicode.GetBytes($packed))
        }
        if ($tagged) {
            $parts = [System.Collections.Generic.List[string]]::new()
            foreach ($name in $covered) {
                $value = $item.PSObject.Properties[$name].Value
                if ($null -eq $value) { continue }
                $values = [string[]]@(foreach ($one in @($value)) { if ($null -ne $one) { [string]$one } })
                if ($values.Length -eq 1) { $parts.Add($name + '=' + $values[0]) }
                if ($values.Length -gt 1) { $parts.Add($name + '=' + (Get-GatewayAttributeText -Value $values)) }
            }
            $tag = $parts.ToArray() -join $GatewayAttributeMark
        }
        if ($wantAll) {
            # A literal costs half as much as the conditions below.
            $record = [ordered]@{
                guid                    = [string]$item.ObjectGUID
                username                = [string]$item.SamAccountName
                samUsername             = [string]$item.SamAccountName
                name                    = [string]$item.Name
                userPrincipalName       = [string]$item.UserPrincipalName
                sid                     = [string]$item.SID
                distinguishedName       = [string]$dn
                firstName               = [string]$item.givenName
                initials                = [string]$item.initials
                lastName                = [string]$item.sn
                displayName             = [string]$item.displayName
                description             = [string]$item.description
                emailAddress            = [string]$item.mail
                department              = [string]$item.department
                office                  = [string]$item.physicalDeliveryOfficeName
                company                 = [string]$item.company
                ouPath                  = [string]($dn -replace '^(?:[^,\\]|\\.)+,', '')
                jobTitle                = [string]$item.title
                manager                 = [string]$manager
                streetAddress           = [string]$item.streetAddress
                streetPoBox             = [string]@($item.postOfficeBox)[0]
                city                    = [string]$item.l
                state                   = [string]$item.st
                postalCode              = [string]$item.postalCode
                country                 = [string]$item.c
                officePhone             = [string]$item.telephoneNumber
                homePhone               = [string]$item.homePhone
                mobilePhone             = [string]$item.mobile
                profilePath             = [string]$item.profilePath
                profileLogonScript      = [string]$item.scriptPath
                homeFolderPath          = [string]$item.homeDirectory
                homeFolderDrive         = [string]$item.homeDrive
                homeFolderDirectory     = [string]$item.homeDirectory
                enabled                 = [bool]$item.Enabled
                lockedOut               = [bool]$item.LockedOut
                changePasswordNextLogon = ([long]$item.pwdLastSet -eq 0 -and -not $neverExpires)
                passwordNeverExpired    = [bool]$neverExpires
                passwordLastSet         = [string]$lastSet
                accountExpires          = [string]$expires
                created                 = [string]$created
                modified                = [string]$modified
                userParameters          = [string]$packed
            }
            if ($tagged) { $record['further'] = [string]$tag }
            $record
            continue
        }
        $record = [ordered]@{}
        if ($want['guid']) { $record['guid'] = [string]$item.ObjectGUID }
        if ($want['username']) { $record['username'] = [string]$item.SamAccountName }
        if ($want['samUsername']) { $record['samUsername'] = [string]$item.SamAccountName }
        if ($want['name']) { $record['name'] = [string]$item.Name }
        if ($want['userPrincipalName']) { $record['userPrincipalName'] = [string]$item.UserPrincipalName }
        if ($want['sid']) { $record['sid'] = [string]$item.SID }
        if ($want['distinguishedName']) { $record['distinguishedName'] = [string]$dn }
        if ($want['firstName']) { $record['firstName'] = [string]$item.givenName }
        if ($want['initials']) { $record['initials'] = [string]$item.initials }
        if ($want['lastName']) { $record['lastName'] = [string]$item.sn }
        if ($want['displayName']) { $record['displayName'] = [string]$item.displayName }
        if ($want['description']) { $record['description'] = [string]$item.description }
        if ($want['emailAddress']) { $record['emailAddress'] = [string]$item.mail }
        if ($want['department']) { $record['department'] = [string]$item.department }
        if ($want['office']) { $record['office'] = [string]$item.physicalDeliveryOfficeName }
        if ($want['company']) { $record['company'] = [string]$item.company }
        if ($want['ouPath']) { $record['ouPath'] = [string]($dn -replace '^(?:[^,\\]|\\.)+,', '') }
        if ($want['jobTitle']) { $record['jobTitle'] = [string]$item.title }
        if ($want['manager']) { $record['manager'] = [string]$manager }
        if ($want['streetAddress']) { $record['streetAddress'] = [string]$item.streetAddress }
        if ($want['streetPoBox']) { $record['streetPoBox'] = [string]@($item.postOfficeBox)[0] }
        if ($want['city']) { $record['city'] = [string]$item.l }
        if ($want['state']) { $record['state'] = [string]$item.st }
        if ($want['postalCode']) { $record['postalCode'] = [string]$item.postalCode }
        if ($want['country']) { $record['country'] = [string]$item.c }
        if ($want['officePhone']) { $record['officePhone'] = [string]$item.telephoneNumber }
        if ($want['homePhone']) { $record['homePhone'] = [string]$item.homePhone }
        if ($want['mobilePhone']) { $record['mobilePhone'] = [string]$item.mobile }
        if ($want['profilePath']) { $record['profilePath'] = [string]$item.profilePath }
        if ($want['profileLogonScript']) { $record['profileLogonScript'] = [string]$item.scriptPath }
        if ($want['homeFolderPath']) { $record['homeFolderPath'] = [string]$item.homeDirectory }
        if ($want['homeFolderDrive']) { $record['homeFolderDrive'] = [string]$item.homeDrive }
        if ($want['homeFolderDirectory']) { $record['homeFolderDirectory'] = [string]$item.homeDirectory }
        if ($want['enabled']) { $record['enabled'] = [bool]$item.Enabled }
        if ($want['lockedOut']) { $record['lockedOut'] = [bool]$item.LockedOut }
        if ($want['changePasswordNextLogon']) { $record['changePasswordNextLogon'] = ([long]$item.pwdLastSet -eq 0 -and -not $neverExpires) }
        if ($want['passwordNeverExpired']) { $record['passwordNeverExpired'] = [bool]$neverExpires }
        if ($want['passwordLastSet']) { $record['passwordLastSet'] = [string]$lastSet }
        if ($want['accountExpires']) { $record['accountExpires'] = [string]$expires }
        if ($want['created']) { $record['created'] = [string]$created }
        if ($want['modified']) { $record['modified'] = [string]$modified }
        if ($wantPacked) { $record['userParameters'] = [string]$packed }
        foreach ($one in $further) {
            $values = @(foreach ($value in @($item.PSObject.Properties[$one.name].Value)) { if ($null -ne $value) { [string]$value } })
            if ($one.many) { $record[$one.field] = [string[]]$values }
            elseif ($one.form -ne 'number') { $record[$one.field] = [string]$values[0] }
            elseif ($values.Length -gt 0) { $record[$one.field] = [long]$values[0] }
            else { $record[$one.field] = $null }
        }
        if ($tagged) { $record['further'] = [string]$tag }
        $record
    }
}

# The attributes that store the text of an input unchanged, by the name of the input.
$GatewayUserTexts = [ordered]@{
    FirstName          = 'givenName'
    Initials           = 'initials'
    LastName           = 'sn'
    DisplayName        = 'displayName'
    Description        = 'description'
    EmailAddress       = 'mail'
    Department         = 'department'
    Office             = 'physicalDeliveryOfficeName'
    Company            = 'company'
    JobTitle           = 'title'
    Street             = 'streetAddress'
    POBox              = 'postOfficeBox'
    City               = 'l'
    State              = 'st'
    ZipCode            = 'postalCode'
    CountryCode2       = 'c'
    CountryName        = 'co'
    OfficePhone        = 'telephoneNumber'
    HomePhone          = 'homePhone'
    MobilePhone        = 'mobile'
    ProfilePath        = 'profilePath'
    ProfileLogonScript = 'scriptPath'
    HomeFolderDirectory = 'homeDirectory' # has two names, which are never given different values
    HomeFolderPath     = 'homeDirectory'
    HomeFolderDrive    = 'homeDrive'
}

# The attributes that an update may write.
$GatewayUserWritten = @(
    'givenName', 'initials', 'sn', 'displayName', 'description', 'mail', 'department', 'physicalDeliveryOfficeName'
    'company', 'title', 'manager', 'streetAddress', 'postOfficeBox', 'l', 'st', 'postalCode', 'c', 'co', 'countryCode'
    'telephoneNumber', 'homePhone', 'mobile', 'profilePath', 'scriptPath', 'homeDirectory', 'homeDrive'
)

# The properties that the image of a user needs.
$GatewayUserImaged = $GatewayUserWritten + @(
    'userAccountControl', 'pwdLastSet', 'LockedOut', 'userParameters', 'accountExpires', 'ProtectedFromAccidentalDeletion'
)

# Returns the stored values of attributes as texts, by name. The list of an absent attribute is empty.
function Get-GatewayUserStored {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [object] $User,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Name
    )
    $stored = @{}
    foreach ($attribute in $Name) {
        $values = [System.Collections.Generic.List[string]]::new()
        foreach ($value in @($User.PSObject.Properties[$attribute].Value)) {
            if ($null -ne $value) { $values.Add([string]$value) }
        }
        $stored[$attribute] = $values.ToArray()
    }
    $stored
}

# Returns the values of an attribute in the type in which they are written, for example numbers as numbers.
function ConvertTo-GatewayUserValue {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Attribute, [Parameter(Mandatory)] [string[]] $Value)
    if ($Attribute -eq 'countryCode') { return [int]$Value[0] }
    , $Value
}

# Returns the changes that set each attribute to the wanted text ('' clears it), and those that undo them. The
# result is empty if nothing differs. -eq is not used, because it compares by culture, and equates different texts
# (combining accents, ss and sharp s) and invisible texts with empty ones.
function Compare-GatewayUserText {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [hashtable] $Stored, [Parameter(Mandatory)] [hashtable] $Wanted)
    $change = @{
        replace = @{}; clear = [System.Collections.Generic.List[string]]::new()
        oldReplace = @{}; oldClear = [System.Collections.Generic.List[string]]::new()
        before = @{}; after = @{}; number = 0
    }
    foreach ($name in @($Wanted.Keys)) {
        $text = [string]$Wanted[$name]
        $old = $Stored[$name]
        if ($old.Length -eq 0 -and $text.Length -eq 0) { continue }
        if ($old.Length -eq 1 -and $text.Equals($old[0], [System.StringComparison]::Ordinal)) { continue }
        $change.number++
        $change.before[$name] = [string]($old -join ', ')
        $change.after[$name] = $text
        if ($text.Length -eq 0) { $change.clear.Add($name) } else { $change.replace[$name] = ConvertTo-GatewayUserValue -Attribute $name -Value @($text) }
        if ($old.Length -eq 0) { $change.oldClear.Add($name) } else { $change.oldReplace[$name] = ConvertTo-GatewayUserValue -Attribute $name -Value $old }
    }
    $change
}

# Warns that a password that never expires is not forced to change at the next logon, as in the
# Windows console.
function Add-GatewayNeverExpires {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Dn)
    $message = 'The password never expires, so that its change at the next logon was not demanded.'
    Add-GatewayWarning -Code 'never_expires' -Target $Dn -Message $message
}

# Warns of a UPN that the directory accepts and Microsoft Entra refuses. Before the @, Entra allows ASCII letters
# and digits and ' . - _ ! # ^ ~, but no dot at either end, and no two dots in a row.
function Add-GatewayOddPrincipal {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Principal, [Parameter(Mandatory)] [string] $Dn)
    if ($Principal -cmatch "^[A-Za-z0-9'_!#^~-]+([.][A-Za-z0-9'_!#^~-]+)*@[A-Za-z0-9.-]+`$") { return }
    $message = "The UPN '$Principal' has a blank or another character that Microsoft Entra refuses; nobody can sign in there by it."
    Add-GatewayWarning -Code 'upn_odd' -Target $Dn -Message $message
}

# Writes attributes of a user in one modification, so all or none are written.
function Set-GatewayUserText {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Guid,
        [Parameter(Mandatory)] [hashtable] $Replace,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [string[]] $Clear,
        [Parameter(Mandatory)] [string] $Server
    )
    $set = @{ Identity = $Guid; Server = $Server; Confirm = $false }
    if ($Replace.Count -gt 0) { $set['Replace'] = $Replace }
    if ($Clear.Length -gt 0) { $set['Clear'] = $Clear }
    Set-ADUser @set
}

# Returns the distinguished name of a user's manager, given by username, distinguished name or GUID.
function Find-GatewayManager {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Manager,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    Set-GatewayStep -Label 'find manager' -Arg 'Manager'
    $found = Find-GatewayAccount -Class 'user' -Identity $Manager -AllowedOU $AllowedOU -Server $Server -Arg 'Manager' -Write -Quiet
    if ($null -eq $found) {
        $message = "The manager '$Manager' was not found" + (Get-GatewayScopeText -AllowedOU $AllowedOU) +
            '. It is looked for by GUID, SID, distinguished name and account name, not by UPN, DOMAIN\name or common name.'
        Stop-Gateway -Code 'unprocessable' -Arg 'Manager' -Message $message
    }
    [string]$found.DistinguishedName
}
