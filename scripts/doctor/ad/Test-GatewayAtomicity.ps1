# Tests whether a change of several attributes is one modification: if the directory refuses one of the values,
# nothing may change.
[CmdletBinding()]
param([Parameter(Mandatory)] [string] $Base, [Parameter(Mandatory)] [string] $Prefix, [Parameter(Mandatory)] [string] $Server)

$old = @{ description = 'before'; title = 'before' }
New-ADUser -Name ($Prefix + 'a1') -SamAccountName ($Prefix + 'a1') -OtherAttributes $old -Path $Base -Server $Server -Confirm:$false
$attempts = @(
    @{ fact = 'values and a clearing together, one value too long'; left = 'what it left'; initials = 'abcdefg' }
    @{ fact = 'values and a clearing together'; left = 'what that left'; initials = 'abc' }
)
foreach ($attempt in $attempts) {
    Test-GatewayFact -Fact $attempt.fact -Action {
        $replace = @{ description = [string[]]@('after'); department = [string[]]@('after'); initials = [string[]]@($attempt.initials) }
        Set-GatewayUserText -Guid ($Prefix + 'a1') -Replace $replace -Clear @('title') -Server $Server
    }
    Test-GatewayFact -Fact $attempt.left -Action {
        $user = Get-ADUser -Identity ($Prefix + 'a1') -Properties 'description', 'title', 'department', 'initials' -Server $Server
        'description ' + [string]$user.description
        'title ' + [string]$user.title
        'department ' + [string]$user.department
        'initials ' + [string]$user.initials
    }
}
