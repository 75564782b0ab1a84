# Returns the records of a name, and the PTR records of the addresses that a request concerns, to settle a write
# that was cut off. Records that the state does not contain are absent.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Type,
    [bool] $Set = $false,
    [AllowNull()] [string] $ZoneName,
    [AllowNull()] [string] $Name,
    [AllowNull()] [string] $Address,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $Data,
    [AllowNull()] [AllowEmptyCollection()] [AllowEmptyString()] [string[]] $NewData,
    [Parameter(Mandatory)] [string] $ComputerName
)

$place = Resolve-GatewayRecord -Type $Type -ZoneName $ZoneName -Name $Name -Address $Address -Data $Data -ComputerName $ComputerName
Set-GatewayStep -Label 'find records' -Arg 'Name'
$present = @(Get-GatewayNode -ZoneName $place.name -Owner $place.owner -ComputerName $ComputerName)
$state = [ordered]@{ '*' = 'False' }
foreach ($record in $present) {
    foreach ($key in @(Get-GatewayNodeKey -Fqdn $place.fqdn -Record @($record))) {
        $state[$key] = 'True'
        $state['ttl ' + $key] = [string][long]$record.TimeToLive.TotalSeconds
    }
}
if ($GatewayRecordTypes[$Type].address) {
    foreach ($text in @($Data) + @($NewData)) {
        if (-not $text) { continue }
        $pointer = Find-GatewayPointer -Address $text -Fqdn $place.fqdn -ComputerName $ComputerName
        foreach ($key in @(Get-GatewayNodeKey -Fqdn $pointer.fqdn -Record $pointer.present)) { $state[$key] = 'True' }
    }
}
$wanted = @($place.data)
$new = @(Get-GatewayRecordData -Type $Type -Data $NewData -ZoneName $place.name)
for ($i = 0; $i -lt $new.Length; $i++) { if ($new[$i] -ne '') { $wanted[$i] = $new[$i] } }
$found = @(Select-GatewayRecord -Record $present -Type $Type -Data $(if ($Set) { @() } else { $wanted }))
$one = $null
if ($found.Length -gt 0 -and $Set) {
    $one = ConvertTo-GatewayRecordSet -Record $found -ZoneName $place.name
} elseif ($found.Length -gt 0) {
    $one = ConvertTo-GatewayRecord -Record @($found[0]) -ZoneName $place.name -Type $Type
}
[ordered]@{
    guid   = ''
    dn     = [string]$place.fqdn
    age    = 0
    state  = $state
    record = $one
}
