# Returns the time of a user's last logon. It is the latest time on any domain controller, because each controller
# stores its own (facts E17a). DomainController lists the controllers that can be reached, and Unreached the others.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $DomainController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Unreached,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find user' -Arg 'UserName'
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -AllowedOU $AllowedOU -Server $Server -Arg 'UserName'
$filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid $user.ObjectGUID) + ')'
$base = (Get-GatewayDomain -Server $Server).dn

$missing = [System.Collections.Generic.List[string]]::new()
foreach ($name in @($Unreached)) {
    if ($name) { $missing.Add($name) }
}
$controllers = [System.Collections.Generic.List[string]]::new()
foreach ($name in @($DomainController)) {
    if ($name) { $controllers.Add($name) }
}
if ($controllers.Count -eq 0) { $controllers.Add($Server) }
$latest = [long]0
$source = ''
foreach ($controller in $controllers) {
    Set-GatewayStep -Label 'read last logon' -Arg 'UserName'
    try {
        # A controller to which the user has not been replicated has recorded no logon.
        foreach ($found in @(Get-GatewayObject -Class 'user' -Filter $filter -Property @('lastLogon') -Base $base -Server $controller)) {
            $ticks = [long]$found.lastLogon
            if ($ticks -gt $latest) {
                $latest = $ticks
                $source = $controller
            }
        }
    } catch {
        # An error in the call itself is not a failure of the controller.
        if ($_.Exception -is [System.Management.Automation.RuntimeException]) { throw }
        $missing.Add($controller)
    }
}
[ordered]@{
    username  = [string]$user.SamAccountName
    lastLogon = [string](Get-GatewayFileTime -Value $latest)
    source    = [string]$source
    complete  = [bool]($missing.Count -eq 0)
    unreached = [string[]]@($missing.ToArray())
}
