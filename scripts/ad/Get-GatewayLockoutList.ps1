# Lists when and from where a user was locked out in the last hours. The source is the log of the PDC emulator, to
# which all domain controllers report lockouts, or, if it cannot be read, the counters of wrong passwords on the
# controllers. DomainController lists the controllers that can be reached, and Unreached the others.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $UserName,
    [int] $Hours = 24,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $DomainController,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $Unreached,
    [Parameter(Mandatory)] [string] $Server
)

Set-GatewayStep -Label 'find user' -Arg 'UserName'
$user = Find-GatewayAccount -Class 'user' -Identity $UserName -AllowedOU $AllowedOU -Server $Server -Arg 'UserName'
$controllers = @(foreach ($name in @($DomainController)) { if ($name) { [string]$name } })
if ($controllers.Length -eq 0) { $controllers = @($Server) }
$pdc = [string](Get-ADDomain -Server $Server).PDCEmulator

$missing = $false
foreach ($name in @($Unreached)) {
    if ($name -and $pdc.Equals($name, [System.StringComparison]::OrdinalIgnoreCase)) { $missing = $true }
}
if ($missing) {
    $message = "The PDC emulator '$pdc', whose log has the lockouts, cannot be reached."
    Add-GatewayWarning -Code 'log_unreadable' -Target $pdc -Message $message
} else {
    $events = Get-GatewayLockoutEvent -Sid ([string]$user.SID) -Hours $Hours -Pdc $pdc
    if ($null -ne $events) {
        $events
        return
    }
}
Set-GatewayStep -Label 'read wrong passwords' -Arg 'UserName'
$filter = '(objectGUID=' + (Get-GatewayGuidEscaped -Guid $user.ObjectGUID) + ')'
$base = (Get-GatewayDomain -Server $Server).dn
foreach ($name in @($Unreached)) {
    if ($name) { Add-GatewayWarning -Code 'controller_unreached' -Target ([string]$name) -Message "The domain controller '$name' was not asked." }
}
foreach ($controller in $controllers) {
    try {
        foreach ($found in @(Get-GatewayObject -Class 'user' -Filter $filter -Property @('badPwdCount', 'badPasswordTime') -Base $base -Server $controller)) {
            $count = [int]$found.badPwdCount
            if ($count -eq 0) { continue }
            $time = [string](Get-GatewayFileTime -Value $found.badPasswordTime)
            New-GatewayLockout -Kind 'badPassword' -Time $time -Controller $controller -Count $count
        }
    } catch {
        # An error in the call itself is not a failure of the controller.
        if ($_.Exception -is [System.Management.Automation.RuntimeException]) { throw }
        Add-GatewayWarning -Code 'controller_unreached' -Target $controller -Message "The domain controller '$controller' did not answer."
    }
}
