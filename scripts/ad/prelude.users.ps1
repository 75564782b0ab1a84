# What the scripts about users share.
# Loaded after the preludes of the session and of the directory.

# Which properties of the directory each field of a user's record needs.
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
    homeFolderPath         = @('homeDirectory', 'homeDrive')
    homeFolderDrive        = @('homeDrive')
    homeFolderDirectory    = @('homeDirectory', 'homeDrive')
    lockedOut              = @('LockedOut')
    changePasswordNextLogon = @('pwdLastSet', 'userAccountControl')
    passwordNeverExpired   = @('userAccountControl')
    passwordLastSet        = @('pwdLastSet')
    accountExpires         = @('accountExpires')
    created                = @('whenCreated')
    modified               = @('whenChanged')
}

# The properties to ask for so that these fields can be told.
function Get-GatewayUserProperty {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string[]] $Field)
    $needed = @{}
    foreach ($name in $Field) {
        foreach ($property in @($GatewayUserProperties[$name])) {
            if ($null -ne $property) { $needed[$property] = $true }
        }
    }
    , [string[]]@($needed.Keys)
}

# Writes the records of users, with the wanted fields only. It works on many at once because
# calling a function for each costs more than the work.
function ConvertTo-GatewayUser {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $User,
        [Parameter(Mandatory)] [string[]] $Field
    )
    $want = @{}
    foreach ($name in $Field) { $want[$name] = $true }
    foreach ($item in $User) {
        $record = [ordered]@{}
        if ($want['guid']) { $record['guid'] = [string]$item.ObjectGUID }
        if ($want['username']) { $record['username'] = [string]$item.SamAccountName }
        if ($want['samUsername']) { $record['samUsername'] = [string]$item.SamAccountName }
        if ($want['name']) { $record['name'] = [string]$item.Name }
        if ($want['userPrincipalName']) { $record['userPrincipalName'] = [string]$item.UserPrincipalName }
        if ($want['sid']) { $record['sid'] = [string]$item.SID }
        if ($want['distinguishedName']) { $record['distinguishedName'] = [string]$item.DistinguishedName }
        if ($want['firstName']) { $record['firstName'] = [string]$item.givenName }
        if ($want['initials']) { $record['initials'] = [string]$item.initials }
        if ($want['lastName']) { $record['lastName'] = [string]$item.sn }
        if ($want['displayName']) { $record['displayName'] = [string]$item.displayName }
        if ($want['description']) { $record['description'] = [string]$item.description }
        if ($want['emailAddress']) { $record['emailAddress'] = [string]$item.mail }
        if ($want['department']) { $record['department'] = [string]$item.department }
        if ($want['office']) { $record['office'] = [string]$item.physicalDeliveryOfficeName }
        if ($want['company']) { $record['company'] = [string]$item.company }
        if ($want['ouPath']) { $record['ouPath'] = [string](([string]$item.DistinguishedName) -replace '^(?:[^,\\]|\\.)+,', '') }
        if ($want['jobTitle']) { $record['jobTitle'] = [string]$item.title }
        if ($want['manager']) { $record['manager'] = [string]$item.manager }
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
        $drive = [string]$item.homeDrive
        if ($want['homeFolderPath']) { $record['homeFolderPath'] = [string]$(if ($drive -eq '') { $item.homeDirectory }) }
        if ($want['homeFolderDrive']) { $record['homeFolderDrive'] = $drive }
        if ($want['homeFolderDirectory']) { $record['homeFolderDirectory'] = [string]$(if ($drive -ne '') { $item.homeDirectory }) }
        if ($want['enabled']) { $record['enabled'] = [bool]$item.Enabled }
        if ($want['lockedOut']) { $record['lockedOut'] = [bool]$item.LockedOut }
        $neverExpires = ([int]$item.userAccountControl -band 0x10000) -ne 0
        if ($want['changePasswordNextLogon']) { $record['changePasswordNextLogon'] = ([long]$item.pwdLastSet -eq 0 -and -not $neverExpires) }
        if ($want['passwordNeverExpired']) { $record['passwordNeverExpired'] = $neverExpires }
        if ($want['passwordLastSet']) { $record['passwordLastSet'] = [string](Get-GatewayFileTime -Value $item.pwdLastSet) }
        if ($want['accountExpires']) { $record['accountExpires'] = [string](Get-GatewayFileTime -Value $item.accountExpires) }
        if ($want['created']) { $record['created'] = [string]([datetime]$item.whenCreated).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        if ($want['modified']) { $record['modified'] = [string]([datetime]$item.whenChanged).ToUniversalTime().ToString($GatewayDateFormat, $GatewayInvariant) }
        $record
    }
}
