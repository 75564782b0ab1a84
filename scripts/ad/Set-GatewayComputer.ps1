# Changes the description of a computer. An empty description clears it, and an absent one leaves it unchanged.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Identity,
    [AllowNull()] [string] $Description,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $GuardedGroup,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$computer = Find-GatewayComputer -Identity $Identity -Property $GatewayComputerProperties -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
$guid = [string]$computer.ObjectGUID
$dn = [string]$computer.DistinguishedName
$oldText = [string]@($computer.description)[0]

# Guard.
Assert-GatewayPrivilege -Object $computer -Privileged $Privileged -GuardedGroup $GuardedGroup -Server $Server -Arg 'Identity'

# Announce.
New-GatewayIntent -Guid $guid -Dn $dn -Of $computer
if ($PSBoundParameters.ContainsKey('Description')) { Add-GatewayIntent -Name 'description' -Before $oldText -After $Description }
Write-GatewayIntent -Effect 'changed'

# Act.
$changed = $PSBoundParameters.ContainsKey('Description') -and -not $oldText.Equals($Description, [System.StringComparison]::Ordinal)
if ($changed) {
    Set-GatewayStep -Label 'set description' -Arg 'Description'
    Set-GatewayText -Guid $guid -Attribute 'description' -Text $Description -Server $Server
    $back = { param($Guid, $Text, $Server) Set-GatewayText -Guid $Guid -Attribute 'description' -Text $Text -Server $Server }
    Complete-GatewayStep -Label 'set description' -Guid $guid -Dn $dn -Undo $back -Arguments @{ Guid = $guid; Text = $oldText; Server = $Server }
    Complete-GatewayChange -Effect 'changed'
    Add-GatewayChange -Guid $guid -Dn $dn -Before @{ description = $oldText } -After @{ description = $Description }
}

# Report.
$read = Find-GatewayAccount -Class 'computer' -Identity $guid -Property $GatewayComputerProperties -AllowedOU $AllowedOU -Server $Server -Arg 'Identity' -Write
ConvertTo-GatewayComputer -Computer @($read)
