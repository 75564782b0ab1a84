# Returns what the account of the session may do in containers: which classes it may create and which
# attributes it may write. The default is the containers for new users and computers.
[CmdletBinding()]
param(
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Container,
    [Parameter(Mandatory)] [string] $Server
)

$domain = Get-GatewayDomain -Server $Server
if ($null -eq $Container -or $Container.Length -eq 0) {
    $places = Get-GatewayDefaultPlace -Server $Server
    $Container = @([string]$places.users, [string]$places.computers)
}
foreach ($dn in $Container) {
    Set-GatewayStep -Label 'read rights' -Arg $dn
    $filter = '(distinguishedName=' + (Get-GatewayLdapEscaped -Value $dn) + ')'
    $search = @{ SearchBase = [string]$domain.dn; SearchScope = 'Subtree'; ResultSetSize = 1; Server = $Server }
    $properties = @('allowedChildClassesEffective', 'allowedAttributesEffective')
    $found = @(Get-ADObject -LDAPFilter $filter -Properties $properties @search)
    $creates = @()
    $writes = 0
    foreach ($object in $found) {
        # The attributes are absent without any right.
        $creates = @(foreach ($class in @($object.allowedChildClassesEffective)) { if ($null -ne $class) { [string]$class } })
        $writes = @(foreach ($attribute in @($object.allowedAttributesEffective)) { if ($null -ne $attribute) { 1 } }).Length
    }
    [ordered]@{ container = [string]$dn; exists = [bool]($found.Length -gt 0); creates = [string[]]$creates; writes = [int]$writes }
}
