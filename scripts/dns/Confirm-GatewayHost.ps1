# Returns which records exist, in the given order, to settle a change of several records that was cut off. Each
# record is given by its zone and its key.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string[]] $ObjectNames,
    [Parameter(Mandatory)] [string] $ComputerName
)

Set-GatewayStep -Label 'find records' -Arg 'Named'
foreach ($text in $ObjectNames) {
    $parts = $text.Split([char]' ')
    $zone = $parts[0]
    $fqdn = $parts[1]
    $owner = Get-GatewayRelativeName -Name ($fqdn + '.') -ZoneName $zone
    $state = [ordered]@{ '*' = 'False' }
    $one = $null
    foreach ($record in @(Get-GatewayNode -ZoneName $zone -Owner $owner -ComputerName $ComputerName)) {
        foreach ($key in @(Get-GatewayNodeKey -Fqdn $fqdn -Record @($record))) {
            $state[$key] = 'True'
            if ($text.Equals($zone + ' ' + $key)) { $one = ConvertTo-GatewayRecord -Record @($record) -ZoneName $zone }
        }
    }
    [ordered]@{ guid = ''; dn = [string]$fqdn; age = 0; state = $state; record = $one }
}
