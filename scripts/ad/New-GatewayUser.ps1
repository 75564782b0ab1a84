# Creates a user. The user is disabled first, then gets the password and flags, and is enabled last. If a step
# fails, the user is removed.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [AllowNull()] [string] $UserNamePlain,
    [AllowNull()] [securestring] $Password,
    [AllowNull()] [string] $CommonName,
    [AllowNull()] [string] $UserPrincipalName,
    [AllowNull()] [string] $FirstName,
    [AllowNull()] [string] $Initials,
    [AllowNull()] [string] $LastName,
    [AllowNull()] [string] $DisplayName,
    [AllowNull()] [string] $Description,
    [AllowNull()] [string] $EmailAddress,
    [AllowNull()] [string] $Department,
    [AllowNull()] [string] $Office,
    [AllowNull()] [string] $Company,
    [AllowNull()] [string] $JobTitle,
    [AllowNull()] [string] $OUPath,
    [bool] $ChangePasswordNextLogon = $true,
    [bool] $PasswordNeverExpired = $false,
    [AllowNull()] [string] $Manager,
    [AllowNull()] [string] $Street,
    [AllowNull()] [string] $POBox,
    [AllowNull()] [string] $City,
    [AllowNull()] [string] $State,
    [AllowNull()] [string] $ZipCode,
    [AllowNull()] [string] $CountryCode2,
    [AllowNull()] [string] $CountryName,
    [int] $CountryNumber = 0,
    [AllowNull()] [string] $OfficePhone,
    [AllowNull()] [string] $HomePhone,
    [AllowNull()] [string] $MobilePhone,
    [AllowNull()] [string] $ProfilePath,
    [AllowNull()] [string] $ProfileLogonScript,
    [AllowNull()] [string] $HomeFolderDirectory,
    [AllowNull()] [string] $HomeFolderDrive,
    [AllowNull()] [string] $HomeFolderPath,
    [AllowNull()] [string] $RdsProfilePath,
    [AllowNull()] [string] $RdsHomeFolderPath,
    [AllowNull()] [string] $RdsHomeFolderDrive,
    [bool] $RdsConnectDrive,
    [bool] $RdsAllowLogon,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Attribute,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Kept,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$domain = Get-GatewayDomain -Server $Server
$principal = $UserName + '@' + $domain.dns
if ($UserPrincipalName) { $principal = $UserPrincipalName }
$common = $UserName
if ($CommonName) { $common = $CommonName }
$further = @(ConvertFrom-GatewayAttribute -Line $Attribute)
$place = Find-GatewayAccountPlace -OUPath $OUPath -Default 'users' -AllowedOU $AllowedOU -Server $Server
$parent = [string]$place.DistinguishedName

# Guard. Objects that the caller may not see are left out before names are compared.
Assert-GatewayAllowed -Dn $parent -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
Assert-GatewayPlace -Dn $parent -Privileged $Privileged -Server $Server -Arg 'OUPath'
$managerDn = ''
if ($Manager) { $managerDn = [string](Find-GatewayManager -Manager $Manager -AllowedOU $AllowedOU -Server $Server) }
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
Assert-GatewayNameFree -Account $UserName -Principal $principal -Name $common -Parent $parent -Arg 'UserName' @limits
if ($UserPrincipalName) { Assert-GatewayPrincipal -Principal $principal @limits }
Assert-GatewayAttribute -Attribute $further @limits
Assert-GatewayUserName -Name $UserName -Plain $UserNamePlain -GuardedGroup $GuardedGroup -Arg 'UserName' @limits

$texts = @{ manager = $managerDn }
foreach ($name in @($GatewayUserTexts.Keys)) {
    if ($PSBoundParameters.ContainsKey($name)) { $texts[$GatewayUserTexts[$name]] = [string]$PSBoundParameters[$name] }
}
$attributes = @{}
foreach ($name in @($texts.Keys)) {
    if ($texts[$name]) { $attributes[$name] = $texts[$name] }
}
if ($CountryCode2) { $attributes['countryCode'] = $CountryNumber }
$also = @{ sAMAccountName = $UserName; userPrincipalName = $principal }
foreach ($name in @($attributes.Keys)) { $also[$name] = [string]$attributes[$name] }
foreach ($one in $further) {
    if ($one.values.Length -gt 0) {
        $attributes[$one.name] = ConvertTo-GatewayAttributeValue -Form $one.form -Value $one.values
        $also[$one.name] = [string](Get-GatewayAttributeText -Value $one.values)
    }
}

$rdsArg = Get-GatewayRdsGiven -Given $PSBoundParameters
$rdsText = ConvertTo-GatewayUserParameters -Text '' -Given $PSBoundParameters

$forceChange = $ChangePasswordNextLogon -and -not $PasswordNeverExpired
$ignoresChange = $PasswordNeverExpired -and $ChangePasswordNextLogon -and $PSBoundParameters.ContainsKey('ChangePasswordNextLogon')

Add-GatewayOddPrincipal -Principal $principal -Dn ('CN=' + (Get-GatewayRdnEscaped -Value $common) + ',' + $parent)

# Announce. An account without a password has pwdLastSet 0, and setting a password changes that.
New-GatewayIntent -Creates -Account $UserName -Name $common -Parent $parent -Also $also
if ($rdsText.Length -gt 0) {
    Add-GatewayIntent -Name 'userParameters' -Before '' -After ([Convert]::ToBase64String([System.Text.Encoding]::Unicode.GetBytes($rdsText)))
}
if ($PasswordNeverExpired) { Add-GatewayIntent -Name 'passwordNeverExpired' -Before 'False' -After 'True' }
if ($null -ne $Password -or -not $forceChange) {
    $lastSet = ''
    if ($forceChange) { $lastSet = '0' }
    Add-GatewayIntent -Name 'pwdLastSet' -Before '0' -After $lastSet -Renewed -Step 'set password'
}
if ($null -ne $Password) { Add-GatewayIntent -Name 'enabled' -Before 'False' -After 'True' }
Write-GatewayIntent -Effect 'created'

# Act.
Set-GatewayStep -Label 'create user' -Arg 'UserName'
$create = @{
    Name = $common; SamAccountName = $UserName; UserPrincipalName = $principal; Path = $parent
    Enabled = $false; Server = $Server; PassThru = $true; Confirm = $false
}
if ($attributes.Count -gt 0) { $create['OtherAttributes'] = $attributes }
$user = New-ADUser @create
$guid = [string]$user.ObjectGUID
$remove = { param($Guid, $Server) Remove-ADUser -Identity $Guid -Server $Server -Confirm:$false }
Complete-GatewayStep -Label 'create user' -Guid $guid -Dn ([string]$user.DistinguishedName) -Undo $remove -Arguments @{ Guid = $guid; Server = $Server }
$dn = [string]$user.DistinguishedName
$withUser = { param() } # no undo: the account is removed as a whole

if ($rdsText.Length -gt 0) {
    Set-GatewayStep -Label 'set remote desktop settings' -Arg $rdsArg
    Set-GatewayUserParameters -Guid $guid -Old '' -New $rdsText -Server $Server -Arg $rdsArg
    Complete-GatewayStep -Label 'set remote desktop settings' -Guid $guid -Dn $dn -Undo $withUser
}
if ($PasswordNeverExpired) {
    Set-GatewayStep -Label 'set flags' -Arg 'PasswordNeverExpired'
    Set-ADUser -Identity $guid -PasswordNeverExpires $true -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'set flags' -Guid $guid -Dn $dn -Undo $withUser
}
if ($null -ne $Password) {
    Set-GatewayStep -Label 'set password' -Arg 'Password'
    Set-ADAccountPassword -Identity $guid -Reset -NewPassword $Password -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'set password' -Guid $guid -Dn $dn -Undo $withUser
    Set-GatewayStep -Label 'enable user' -Arg 'Password'
    Enable-ADAccount -Identity $guid -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'enable user' -Guid $guid -Dn $dn -Undo $withUser
}
# A new account must change its password, so setting one counts as a change.
if ($forceChange -and $null -ne $Password) {
    Set-GatewayStep -Label 'force password change' -Arg 'ChangePasswordNextLogon'
    Set-ADUser -Identity $guid -ChangePasswordAtLogon $true -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'force password change' -Guid $guid -Dn $dn -Undo $withUser
}
if (-not $forceChange -and $null -eq $Password) {
    Set-GatewayStep -Label 'lift password change' -Arg 'ChangePasswordNextLogon'
    Set-ADUser -Identity $guid -ChangePasswordAtLogon $false -Server $Server -Confirm:$false
    Complete-GatewayStep -Label 'lift password change' -Guid $guid -Dn $dn -Undo $withUser
}
if ($ignoresChange) { Add-GatewayNeverExpires -Dn $dn }
Complete-GatewayChange -Effect 'created'

# Report.
$names = @(foreach ($name in ($Field + @($Kept))) { if ($name) { $name } }) # none for $null
$properties = (ConvertFrom-GatewayUserField -Field $names -Server $Server).properties + $GatewayUserImaged
$created = Find-GatewayAccount -Class 'user' -Identity $guid -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$record = ConvertTo-GatewayUser -User @($created) -Field $shown -AllowedOU $AllowedOU -Server $Server
Add-GatewayChange -Guid $guid -Dn ([string]$created.DistinguishedName) -Before $null -After $record
Add-GatewayCreated -Guid $guid -Of $created -Image (Get-GatewayImage -Class 'user' -Object $created -Attribute $Kept -New -Server $Server)
$record
