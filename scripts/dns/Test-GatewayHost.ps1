# Returns whether any record names a host, which is a record of its name or one that leads to it.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Named,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedZone,
    [Parameter(Mandatory)] [string] $ComputerName
)

$found = @(Find-GatewayNaming -Name $Named.TrimEnd([char]'.') -AllowedZone $AllowedZone -ComputerName $ComputerName)
[ordered]@{
    exists            = [bool]($found.Length -gt 0)
    guid              = ''
    distinguishedName = ''
}
