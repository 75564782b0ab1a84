# The gateway runs this function some forty times before a session is ready. It calls the projections with made-up
# objects, so that PowerShell has compiled them before the first request. It reads and changes nothing.
function Test-GatewayRehearsal {
    [CmdletBinding()]
    param()
    $item = @{
        DistinguishedName = 'CN=Made Up,OU=Nowhere,DC=corp,DC=example'
        ObjectGUID        = '00000000-0000-0000-0000-000000000000'
        SID               = 'S-1-0-0'
        SamAccountName    = 'madeup'
        Name              = 'Made Up'
        givenName         = 'Made'
        sn                = 'Up'
        description       = 'An object that does not exist'
        postOfficeBox     = @('1')
        userAccountControl = 512
        pwdLastSet        = 133800000000000000
        accountExpires    = 133800000000000000
        lastLogonTimestamp = 133800000000000000
        whenCreated       = '2024-01-02'
        whenChanged       = '2024-01-02'
        GroupScope        = 'Global'
        GroupCategory     = 'Security'
        ObjectClass       = 'user'
        Enabled           = $true
    }
    $fields = @(
        'guid', 'username', 'samUsername', 'name', 'userPrincipalName', 'sid', 'distinguishedName', 'ouPath', 'enabled'
    ) + @($GatewayUserProperties.Keys)
    $shown = ConvertFrom-GatewayUserField -Field $fields
    ConvertTo-GatewayUser -User @($item, $item) -Field $shown
    ConvertTo-GatewayUser -User @($item, $item) -Field (ConvertFrom-GatewayUserField -Field @('username', 'displayName'))
    ConvertTo-GatewayGroup -Group @($item)
    ConvertTo-GatewayComputer -Computer @($item)
    ConvertTo-GatewayContainer -Container @($item)
}
