# Makes the scratch OU where there is none, with a mark that tells it from others, and a fresh OU in
# it for what the probes make.
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
