# Creates the scratch OU if there is none, with a mark that identifies it, and a new OU in it for the
# objects of the probes.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Base,
    [Parameter(Mandatory)] [string] $Name,
    [Parameter(Mandatory)] [string] $Prefix,
    [Parameter(Mandatory)] [string] $Mark,
    [bool] $Create = $false,
    [Parameter(Mandatory)] [string] $Server
)

if ($Create) {
    Set-GatewayStep -Label 'create scratch OU' -Arg 'Base'
    $parent = Get-GatewayParentDn -Dn $Base
    New-ADOrganizationalUnit -Name $Name -Path $parent -Description $Mark -ProtectedFromAccidentalDeletion $false -Server $Server -Confirm:$false
}
Set-GatewayStep -Label 'create OU for the probes' -Arg 'Base'
New-ADOrganizationalUnit -Name ($Prefix + 'probes') -Path $Base -ProtectedFromAccidentalDeletion $false -Server $Server -Confirm:$false
[ordered]@{ base = [string]('OU=' + $Prefix + 'probes,' + $Base) }
