# Removes the incomplete object of a creation that was cut off. This is the object with the GUID that the first step
# reported. It is removed only if it is not older than the request by the clock of the domain controller.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [ValidateSet('user', 'ou')] [string] $Class,
    [Parameter(Mandatory)] [string] $Guid,
    [Parameter(Mandatory)] [int] $MaxAge,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve. There is nothing to do if it no longer exists.
Set-GatewayStep -Label 'find remnant' -Arg 'Guid'
$kind = $Class
if ($Class -eq 'ou') { $kind = 'container' }
$search = @{
    Class = $kind; Filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid ([guid]$Guid)) + ')'; Base = (Get-GatewayDomain -Server $Server).dn
    Property = @('whenCreated', 'ProtectedFromAccidentalDeletion'); Server = $Server
}
$found = @(Get-GatewayObject @search)
if ($found.Length -eq 0) { return }
$dn = [string]$found[0].DistinguishedName

# Guard.
Set-GatewayStep -Label 'check remnant' -Arg 'Guid'
if ((Get-GatewayAge -Object $found[0] -Server $Server) -gt $MaxAge) {
    Stop-Gateway -Code 'conflict' -Arg 'Guid' -Message "'$dn' is older than the request."
}
if (Test-GatewayChild -Dn $dn -Server $Server) {
    Stop-Gateway -Code 'not_empty' -Arg 'Guid' -Message "'$dn' has objects below it by now."
}

# Announce.
New-GatewayIntent -Removes -Guid $Guid -Dn $dn
Write-GatewayIntent -Effect 'removed'

# Act.
if ([bool]$found[0].ProtectedFromAccidentalDeletion) {
    Set-GatewayProtection -Guid $Guid -Protected $false -Label 'lift protection' -Dn $dn -Server $Server
}
Set-GatewayStep -Label 'remove remnant' -Arg 'Guid'
Remove-ADObject -Identity $Guid -Server $Server -Confirm:$false
Complete-GatewayStep -Label 'remove remnant' -Guid $Guid -Dn $dn
Complete-GatewayChange -Effect 'removed'
