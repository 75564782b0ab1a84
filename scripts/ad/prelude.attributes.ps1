# The further attributes of users. The gateway has a table of them. For each attribute to be read or written, a
# script gets a line with its name, form, rules, field and values, separated by control characters.

$GatewayAttributeMark = [string][char]29

# Returns the parts of the lines, and skips other texts.
function ConvertFrom-GatewayAttribute {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [string[]] $Line)
    foreach ($text in $Line) {
        if (-not $text.Contains($GatewayAttributeMark)) { continue }
        $part = $text.Split([char]29)
        $values = [System.Collections.Generic.List[string]]::new()
        for ($i = 4; $i -lt $part.Length; $i++) { $values.Add([string]$part[$i]) }
        @{
            name = [string]$part[0]; form = [string]$part[1]; field = [string]$part[3]; values = $values.ToArray()
            many = $part[2].Contains('many'); unique = $part[2].Contains('unique')
        }
    }
}

# Sorts texts in an order that does not depend on the domain controller, and joins them to one text with a line for
# each.
function Get-GatewayAttributeText {
    [CmdletBinding()]
    param([AllowNull()] [AllowEmptyCollection()] [string[]] $Value)
    $sorted = [string[]]@(foreach ($item in $Value) { $item })
    $order = [string[]]@(foreach ($item in $Value) { $item })
    [System.Array]::Sort([System.Array]$order, [System.Array]$sorted, [System.Collections.IComparer][System.StringComparer]::Ordinal)
    $sorted -join $GatewayLineFeed
}

# Returns the stored values of an attribute as texts. Bytes become one text, which is base64 or the number of bytes.
function Get-GatewayAttributeValue {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [object] $Object, [Parameter(Mandatory)] [string] $Name, [Parameter(Mandatory)] [string] $Form)
    if ($Form -eq 'bytes' -or $Form -eq 'size') {
        $stored = $Object.PSObject.Properties[$Name].Value
        if ($null -eq $stored) { return }
        $octets = [byte[]]$stored
        if ($octets.Length -eq 0) { return }
        if ($Form -eq 'bytes') { return [Convert]::ToBase64String($octets) }
        return [string]$octets.Length + ' bytes'
    }
    foreach ($value in @($Object.PSObject.Properties[$Name].Value)) {
        if ($null -ne $value) { [string]$value }
    }
}

# Returns the values in the type in which they are written, for example numbers as numbers.
function ConvertTo-GatewayAttributeValue {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Form, [Parameter(Mandatory)] [string[]] $Value)
    if ($Form -eq 'number') { return [int]$Value[0] }
    , $Value
}

# Refuses a value that must be unique if another object has it. Except is the GUID of an object that may have
# it.
function Assert-GatewayAttribute {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Attribute,
        [string] $Except,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server
    )
    $root = (Get-GatewayDomain -Server $Server).dn
    foreach ($one in $Attribute) {
        if (-not $one.unique) { continue }
        Set-GatewayStep -Label 'check values' -Arg $one.field
        foreach ($value in $one.values) {
            $filter = '(' + (Get-GatewayLdapEscaped -Value $one.name) + '=' + (Get-GatewayLdapEscaped -Value $value) + ')'
            foreach ($holder in @(Get-GatewayObject -Class 'any' -Filter $filter -Base $root -Server $Server)) {
                if ([string]$holder.ObjectGUID -eq $Except) { continue }
                $dn = [string]$holder.DistinguishedName
                $by = " by '$dn'"
                if (-not (Test-GatewayAllowed -Dn $dn -AllowedOU $AllowedOU -Server $Server)) {
                    $script:GatewayOutside = $true
                    $by = ''
                }
                Stop-Gateway -Code 'conflict' -Arg $one.field -Message "The value '$value' of $($one.name) is taken$by."
            }
            $what = "The value '$value' of $($one.name)"
            Assert-GatewayForestFree -Attribute $one.name -Value $value -What $what -AllowedOU $AllowedOU -Server $Server -Arg $one.field
        }
    }
}

# Adds the attributes that differ to the changes that Compare-GatewayUserText found.
function Compare-GatewayAttribute {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [hashtable] $Change,
        [Parameter(Mandatory)] [object] $User,
        [Parameter(Mandatory)] [AllowEmptyCollection()] [object[]] $Attribute
    )
    foreach ($one in $Attribute) {
        $name = $one.name
        $old = [string[]]@(Get-GatewayAttributeValue -Object $User -Name $name -Form $one.form)
        $before = [string](Get-GatewayAttributeText -Value $old)
        $after = [string](Get-GatewayAttributeText -Value $one.values)
        if ($before.Equals($after)) { continue }
        $Change.number++
        $Change.before[$name] = $before
        $Change.after[$name] = $after
        if ($one.values.Length -eq 0) { $Change.clear.Add($name) }
        else { $Change.replace[$name] = ConvertTo-GatewayAttributeValue -Form $one.form -Value $one.values }
        if ($old.Length -eq 0) { $Change.oldClear.Add($name) }
        else { $Change.oldReplace[$name] = ConvertTo-GatewayAttributeValue -Form $one.form -Value $old }
    }
}

# Returns the UPN suffixes of the forest: the DNS names of its domains, and the suffixes that an administrator
# added.
function Get-GatewaySuffix {
    [CmdletBinding()]
    param([Parameter(Mandatory)] [string] $Server)
    [string](Get-GatewayDomain -Server $Server).dns
    $container = Get-GatewayPartition -Property @('uPNSuffixes') -Server $Server
    if ($null -eq $container) { return }
    foreach ($suffix in @($container.uPNSuffixes)) { if ($null -ne $suffix) { [string]$suffix } }
    foreach ($domain in @(Get-GatewayOtherDomain -Server $Server)) { [string]$domain.dns }
}

# Refuses a UPN whose suffix does not exist in the forest, and a UPN that is the implicit UPN of another
# account. An implicit UPN consists of the account name, with or without a final $, and the DNS name of the
# domain. Certificates are mapped by it. A UPN that was stored before may be restored with any suffix.
function Assert-GatewayPrincipal {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Principal,
        [string] $Except,
        [AllowNull()] [AllowEmptyCollection()] [string[]] $AllowedOU,
        [Parameter(Mandatory)] [string] $Server,
        [switch] $Stored
    )
    Set-GatewayStep -Label 'check UPN' -Arg 'UserPrincipalName'
    $at = $Principal.LastIndexOf([char]'@')
    if ($Stored -and $at -lt 0) { return }
    $prefix = $Principal.Substring(0, $at)
    $suffix = $Principal.Substring($at + 1)
    $known = @{}
    foreach ($name in @(Get-GatewaySuffix -Server $Server)) { $known[$name.ToLowerInvariant()] = $true }
    if (-not $Stored -and -not $known.ContainsKey($suffix.ToLowerInvariant())) {
        $message = "The forest has no UPN suffix '$suffix'. It has: " + (Get-GatewayNameList -Name @($known.Keys)).Replace(',', ', ') + '.'
        Stop-Gateway -Code 'unprocessable' -Arg 'UserPrincipalName' -Message $message
    }
    $domain = Get-GatewayDomain -Server $Server
    if (-not $suffix.Equals($domain.dns, [System.StringComparison]::OrdinalIgnoreCase)) { return }
    $escaped = Get-GatewayLdapEscaped -Value $prefix
    $filter = '(|(sAMAccountName=' + $escaped + ')(sAMAccountName=' + $escaped + '$))'
    foreach ($holder in @(Get-GatewayObject -Class 'any' -Filter $filter -Base $domain.dn -Server $Server)) {
        if ([string]$holder.ObjectGUID -eq $Except) { continue }
        $dn = [string]$holder.DistinguishedName
        $message = "The UPN '$Principal' is that of '$dn', whose account name it begins with."
        if (-not (Test-GatewayAllowed -Dn $dn -AllowedOU $AllowedOU -Server $Server)) {
            $script:GatewayOutside = $true
            $message = "The UPN '$Principal' is taken."
        }
        Stop-Gateway -Code 'conflict' -Arg 'UserPrincipalName' -Message $message
    }
}
