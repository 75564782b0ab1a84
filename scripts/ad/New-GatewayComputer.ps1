# Creates a computer account for a machine that will join later.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Name,
    [AllowNull()] [string] $Description,
    [AllowNull()] [string] $OUPath,
    [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
    [bool] $Privileged = $false,
    [Parameter(Mandatory)] [string] $Server
)

# Resolve.
$place = Find-GatewayAccountPlace -OUPath $OUPath -Default 'computers' -AllowedOU $AllowedOU -Server $Server
$parent = [string]$place.DistinguishedName

# Guard.
Assert-GatewayAllowed -Dn $parent -AllowedOU $AllowedOU -Server $Server -Arg 'OUPath'
Assert-GatewayPlace -Dn $parent -Privileged $Privileged -Server $Server -Arg 'OUPath'
$account = $Name + '$'
Assert-GatewayNameFree -Account $account -Name $Name -Parent $parent -AllowedOU $AllowedOU -Server $Server -Arg 'Name'

# Announce.
$also = @{ sAMAccountName = $account; enabled = 'True' }
if ($Description) { $also['description'] = $Description }
New-GatewayIntent -Creates -Account $account -Name $Name -Parent $parent -Also $also
Write-GatewayIntent -Effect 'created'

# Act. The cmdlet sets a random password and enables the account (facts E47).
Set-GatewayStep -Label 'create computer' -Arg 'Name'
$create = @{ Name = $Name; SamAccountName = $account; Path = $parent; Server = $Server; PassThru = $true; Confirm = $false }
if ($Description) { $create['Description'] = $Description }
$computer = New-ADComputer @create
$guid = [string]$computer.ObjectGUID
$remove = { param($Guid, $Server) Remove-ADComputer -Identity $Guid -Server $Server -Confirm:$false }
Complete-GatewayStep -Label 'create computer' -Guid $guid -Dn ([string]$computer.DistinguishedName) -Undo $remove -Arguments @{ Guid = $guid; Server = $Server }
Complete-GatewayChange -Effect 'created'

# Report.
$created = Find-GatewayAccount -Class 'computer' -Identity $guid -Property $GatewayComputerImaged -AllowedOU $AllowedOU -Server $Server -Arg 'Name' -Write
$record = ConvertTo-GatewayComputer -Computer @($created)
Add-GatewayChange -Guid $guid -Dn ([string]$created.DistinguishedName) -Before $null -After $record
$image = Get-GatewayImage -Class 'computer' -Object $created -Record $record -New -Server $Server
Add-GatewayCreated -Guid $guid -Of $created -Image $image
$record
