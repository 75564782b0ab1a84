# Returns properties of the text that arrived: its length in code units, and a checksum over them that depends on
# their order. For a long text, the checksum covers every 101st code unit.
[CmdletBinding()]
param([Parameter(Mandatory)] [AllowEmptyString()] [string] $Text, [Parameter(Mandatory)] [string] $Fact, [string] $Server)

Test-GatewayFact -Fact $Fact -Action {
    $units = $Text.ToCharArray()
    $step = 1
    if ($units.Length -gt 10000) { $step = 101 }
    $sum = [long]0
    for ($i = 0; $i -lt $units.Length; $i += $step) { $sum = ($sum * 31 + [long][int]$units[$i]) % 1000003 }
    'length ' + $units.Length + ', sum ' + $sum
}
