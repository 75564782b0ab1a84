# Sets or removes the photo of a user. Attribute is one line, with the photo in base64 or without a value.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [Parameter(Mandatory)] [string[]] $Attribute,
    [Parameter(Mandatory)] [string[]] $Field,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
Set-GatewayStep -Label 'find user' -Arg 'UserName'
$photo = @(ConvertFrom-GatewayAttribute -Line $Attribute)[0]
$properties = $GatewayGuardProperties + @($photo.name)
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -Property $properties -AllowedOU $AllowedOU -Server $Server -Arg 'UserName' -Write
$guid = [string]$user.ObjectGUID
$dn = [string]$user.DistinguishedName
$old = [string](@(Get-GatewayAttributeValue -Object $user -Name $photo.name -Form $photo.form) -join '')
$new = [string]($photo.values -join '')

# Guard.
Assert-GatewayPrivilege -Object $user -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'UserName'

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $user
Add-GatewayIntent -Name $photo.name -Before $old -After $new
Write-GatewayIntent -Effect 'changed'

# Act. The audit contains the size of a photo, and nothing else about it.
if (-not $old.Equals($new)) {
    Set-GatewayStep -Label 'set photo' -Arg 'Attribute'
    if ($new -eq '') {
        Set-ADUser -Identity $guid -Clear @($photo.name) -Server $Server -Confirm:$false
    } else {
        Set-ADUser -Identity $guid -Replace @{ $photo.name = [Convert]::FromBase64String($new) } -Server $Server -Confirm:$false
    }
    Complete-GatewayStep -Label 'set photo' -Guid $guid -Dn $dn
    Complete-GatewayChange -Effect 'changed'
    $before = [string][Convert]::FromBase64String($old).Length + ' bytes'
    $after = [string][Convert]::FromBase64String($new).Length + ' bytes'
    Add-GatewayChange -Guid $guid -Dn $dn -Before @{ $photo.name = $before } -After @{ $photo.name = $after }
}

# Report.
$limits = @{ AllowedOU = $AllowedOU; Server = $Server }
$shown = ConvertFrom-GatewayUserField -Field $Field -Server $Server
$read = Find-GatewayAccount -Class 'user' -Identity $guid -Property $shown.properties -Arg 'UserName' -Write @limits
ConvertTo-GatewayUser -User @($read) -Field $shown -AllowedOU $AllowedOU -Server $Server
