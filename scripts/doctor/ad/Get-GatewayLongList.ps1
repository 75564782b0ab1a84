# Lists objects as one long answer, and returns their number, the time that it took, and the error if it failed.
# With Nested, the module reads the parent of each object during the list, which takes a second connection of the
# web service.
[CmdletBinding()]
param(
    [AllowNull()] [string] $Base,
    [Parameter(Mandatory)] [int] $Limit,
    [bool] $Nested = $false,
    [Parameter(Mandatory)] [string] $Server
)

if (-not $Base) {
    # A page has 256 objects. A young domain has fewer, but not the configuration of its forest.
    $Base = [string](Get-GatewayDomain -Server $Server).dn
    Set-GatewayStep -Label 'count objects'
    $some = @(Get-ADObject -LDAPFilter '(objectClass=*)' -SearchBase $Base -SearchScope Subtree -ResultSetSize 257 -Server $Server)
    if ($some.Length -le 256) { $Base = [string](Get-ADRootDSE -Server $Server).configurationNamingContext }
}
$search = @{ LDAPFilter = '(objectClass=*)'; SearchBase = $Base; SearchScope = 'Subtree'; ResultSetSize = $Limit; Server = $Server }
if ($Nested) { $search['Properties'] = 'ProtectedFromAccidentalDeletion' }
$watch = [System.Diagnostics.Stopwatch]::StartNew()
$count = 0
$failure = ''
$message = ''
try {
    $count = @(Get-ADObject @search).Length
} catch {
    $failure = [string](Get-GatewayErrorText -Record $_)
    $message = [string]$_.Exception.Message
}
[ordered]@{ base = [string]$Base; count = [int]$count; ms = [long]$watch.ElapsedMilliseconds; failure = $failure; message = $message }
