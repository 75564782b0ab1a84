function Get-AdgGroupList {
    # .SYNOPSIS
    # Lists the groups below an OU, a container or the domain.
    #
    # .DESCRIPTION
    # GET /api/ADGroups needs the scope group:read.
    #
    # .PARAMETER OUPath
    # Where to search; the whole domain when absent.
    #
    # .PARAMETER Recursive
    # Search below the OU, too.
    #
    # .PARAMETER Text
    # What people type to find groups.
    #
    # .PARAMETER Filter
    # Which groups.
    #
    # .PARAMETER Limit
    # Answers with a page, in the order of GUIDs; without it the list is whole, in the order of names.
    #
    # .PARAMETER After
    # Answers with the page after another one.
    #
    # .PARAMETER Count
    # Says how many there are in all, which costs a whole search.
    #
    # .PARAMETER WithETag
    # Answer with the entity tag: of one record in the header ETag, in a list as the last member of each record.
    #
    # .PARAMETER PageSize
    # Reads all pages, of so many records each.
    #
    # .PARAMETER IfMatch
    # The change is made only if the object has this entity tag.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings.
    #
    # .EXAMPLE
    # Get-AdgGroupList
    #
    # .LINK
    # Connect-AdGateway
    [CmdletBinding()]
    [OutputType('System.Management.Automation.PSObject')]
    param(
        [string] $OUPath,

        [bool] $Recursive,

        [string] $Text,

        [string] $Filter,

        [long] $Limit,

        [string] $After,

        [bool] $Count,

        [bool] $WithETag,

        [int] $PageSize,

        [string] $IfMatch,

        [switch] $Raw
    )
    process {
        $operation = @{
            Method = 'GET'; Path = '/api/ADGroups'; Exists = $false
            Parameters = @('OUPath', 'Recursive', 'Text', 'Filter', 'Limit', 'After', 'Count', 'WithETag')
            Places = @{  }
        }
        Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $false
    }
}

function New-AdgGroupSecurity {
    # .SYNOPSIS
    # Creates a security group.
    #
    # .DESCRIPTION
    # POST /api/ADGroups/{GroupName}/Security needs the scope group:write.
    # -WhatIf changes nothing and returns the plan of what would be changed; its id is for -PlanId.
    #
    # .PARAMETER GroupName
    # The new group's sAMAccountName and CN.
    #
    # .PARAMETER OUPath
    # The OU or container that holds the group; the domain's Users container when absent.
    #
    # .PARAMETER GroupScope
    # The scope, in any case; DomainLocal is taken for Domain_Local.
    #
    # .PARAMETER GroupDescription
    # Text for the attribute description, of several lines if need be.
    #
    # .PARAMETER GroupEmail
    # Text for the attribute mail.
    #
    # .PARAMETER PlanId
    # Make the change as a dry run has shown it, or not at all.
    #
    # .PARAMETER WithETag
    # Answer with the entity tag: of one record in the header ETag, in a list as the last member of each record.
    #
    # .PARAMETER IdempotencyKey
    # With the same key the call runs once, however often it is sent.
    #
    # .PARAMETER OnlyIfNew
    # What is there already is an error, precondition_failed.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings.
    #
    # .EXAMPLE
    # New-AdgGroupSecurity -GroupName 'Sales Team'
    #
    # .EXAMPLE
    # New-AdgGroupSecurity -GroupName 'Sales Team' -WhatIf
    #
    # .LINK
    # Connect-AdGateway
    [CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
    [OutputType('System.Management.Automation.PSObject')]
    param(
        [Parameter(Mandatory = $true, ValueFromPipelineByPropertyName = $true)]
        [string] $GroupName,

        [string] $OUPath,

        [ValidateSet('Domain_Local', 'Global', 'Universal')]
        [string] $GroupScope,

        [string] $GroupDescription,

        [string] $GroupEmail,

        [string] $PlanId,

        [bool] $WithETag,

        [string] $IdempotencyKey,

        [switch] $OnlyIfNew,

        [switch] $Raw
    )
    process {
        $operation = @{
            Method = 'POST'; Path = '/api/ADGroups/{GroupName}/Security'; Exists = $false
            Parameters = @('GroupName', 'OUPath', 'GroupScope', 'GroupDescription', 'GroupEmail', 'PlanId', 'WithETag')
            Places = @{ GroupName = 'GroupName' }
        }
        $target = @($GroupName) -join ', '
        if ($WhatIfPreference) {
            Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $true
        } elseif ($PSCmdlet.ShouldProcess($target)) {
            Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $false
        }
    }
}

function Remove-AdgMembership {
    # .SYNOPSIS
    # Removes a user from a group.
    #
    # .DESCRIPTION
    # DELETE /api/ADUser/{Username}/Group/{GroupName} needs the scope member:write.
    # -WhatIf changes nothing and returns the plan of what would be changed; its id is for -PlanId.
    #
    # .PARAMETER Username
    # The user.
    #
    # .PARAMETER GroupName
    # The group.
    #
    # .PARAMETER PlanId
    # Make the change as a dry run has shown it, or not at all.
    #
    # .PARAMETER IdempotencyKey
    # With the same key the call runs once, however often it is sent.
    #
    # .PARAMETER IfMatch
    # The change is made only if the object has this entity tag.
    #
    # .PARAMETER Force
    # Does not ask before the change is made.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings.
    #
    # .EXAMPLE
    # Remove-AdgMembership -Username 'aschmidt' -GroupName 'VPN Users'
    #
    # .EXAMPLE
    # Remove-AdgMembership -Username 'aschmidt' -GroupName 'VPN Users' -WhatIf
    #
    # .LINK
    # Connect-AdGateway
    [CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'High')]
    [OutputType('System.Management.Automation.PSObject')]
    param(
        [Parameter(Mandatory = $true, ValueFromPipelineByPropertyName = $true)]
        [string] $Username,

        [Parameter(Mandatory = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('samName')]
        [string] $GroupName,

        [string] $PlanId,

        [string] $IdempotencyKey,

        [string] $IfMatch,

        [switch] $Force,

        [switch] $Raw
    )
    process {
        $operation = @{
            Method = 'DELETE'; Path = '/api/ADUser/{Username}/Group/{GroupName}'; Exists = $false
            Parameters = @('Username', 'GroupName', 'PlanId')
            Places = @{ Username = 'Username'; GroupName = 'GroupName' }
        }
        if ($Force) { $ConfirmPreference = 'None' }
        $target = @($Username, $GroupName) -join ', '
        if ($WhatIfPreference) {
            Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $true
        } elseif ($PSCmdlet.ShouldProcess($target)) {
            Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $false
        }
    }
}

function Reset-AdgUserPassword {
    # .SYNOPSIS
    # Sets a user's password; generates one if none is given.
    #
    # .DESCRIPTION
    # PUT /api/ADUser/{UserName}/ResetPassword needs the scope user:password.
    # -WhatIf changes nothing and returns the plan of what would be changed; its id is for -PlanId.
    #
    # .PARAMETER Username
    # The user.
    #
    # .PARAMETER NewPassword
    # The new password. Without one a random password of 24 characters is made and shown once.
    #
    # .PARAMETER ChangePassword
    # The password must be changed at the next logon. For a password that never expires this is not done, which warnings says.
    #
    # .PARAMETER ShowFields
    # The fields to answer with.
    #
    # .PARAMETER PlanId
    # Make the change as a dry run has shown it, or not at all.
    #
    # .PARAMETER WithETag
    # Answer with the entity tag: of one record in the header ETag, in a list as the last member of each record.
    #
    # .PARAMETER IdempotencyKey
    # With the same key the call runs once, however often it is sent.
    #
    # .PARAMETER IfMatch
    # The change is made only if the object has this entity tag.
    #
    # .PARAMETER Force
    # Does not ask before the change is made.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings.
    #
    # .EXAMPLE
    # Reset-AdgUserPassword -Username 'aschmidt'
    #
    # .EXAMPLE
    # Reset-AdgUserPassword -Username 'aschmidt' -WhatIf
    #
    # .LINK
    # Connect-AdGateway
    [CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'High')]
    [OutputType('System.Management.Automation.PSObject')]
    param(
        [Parameter(Mandatory = $true, ValueFromPipelineByPropertyName = $true)]
        [string] $Username,

        [System.Security.SecureString] $NewPassword,

        [bool] $ChangePassword,

        [string[]] $ShowFields,

        [string] $PlanId,

        [bool] $WithETag,

        [string] $IdempotencyKey,

        [string] $IfMatch,

        [switch] $Force,

        [switch] $Raw
    )
    process {
        $operation = @{
            Method = 'PUT'; Path = '/api/ADUser/{UserName}/ResetPassword'; Exists = $false
            Parameters = @('Username', 'NewPassword', 'ChangePassword', 'ShowFields', 'PlanId', 'WithETag')
            Places = @{ Username = 'UserName' }
        }
        if ($Force) { $ConfirmPreference = 'None' }
        $target = @($Username) -join ', '
        if ($WhatIfPreference) {
            Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $true
        } elseif ($PSCmdlet.ShouldProcess($target)) {
            Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $false
        }
    }
}

function Test-AdgOU {
    # .SYNOPSIS
    # Reports whether an OU or container exists.
    #
    # .DESCRIPTION
    # GET /api/OU/Path/Exists needs the scope ou:read.
    #
    # .PARAMETER OUPath
    # The distinguished name of the OU.
    #
    # .PARAMETER IfMatch
    # The change is made only if the object has this entity tag.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings.
    #
    # .EXAMPLE
    # Test-AdgOU -OUPath 'OU=Empty,OU=Corp,DC=corp,DC=example'
    #
    # .LINK
    # Connect-AdGateway
    [CmdletBinding()]
    [OutputType('System.Boolean')]
    param(
        [Parameter(Mandatory = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('path')]
        [string] $OUPath,

        [string] $IfMatch,

        [switch] $Raw
    )
    process {
        $operation = @{
            Method = 'GET'; Path = '/api/OU/Path/Exists'; Exists = $true
            Parameters = @('OUPath')
            Places = @{  }
        }
        Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $false
    }
}

function Undo-AdgChange {
    # .SYNOPSIS
    # Takes a change back, with the rights of whoever calls: the scope of the row that does it is needed, too.
    #
    # .DESCRIPTION
    # POST /api/Changes/{ChangeId}/Undo needs the scope change:undo.
    # -WhatIf changes nothing and returns the plan of what would be changed; its id is for -PlanId.
    #
    # .PARAMETER ChangeId
    # The change, as X-Change-Id shows it.
    #
    # .PARAMETER Fields
    # Take back these fields only.
    #
    # .PARAMETER AcceptDrift
    # Fields that may be overwritten although they have been changed since.
    #
    # .PARAMETER PlanId
    # Make the change as a dry run has shown it, or not at all.
    #
    # .PARAMETER IdempotencyKey
    # With the same key the call runs once, however often it is sent.
    #
    # .PARAMETER IfMatch
    # The change is made only if the object has this entity tag.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings.
    #
    # .EXAMPLE
    # Undo-AdgChange -ChangeId 'ch_019ab3f0-0000-7000-8000-000000000000'
    #
    # .EXAMPLE
    # Undo-AdgChange -ChangeId 'ch_019ab3f0-0000-7000-8000-000000000000' -WhatIf
    #
    # .LINK
    # Connect-AdGateway
    [CmdletBinding(SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
    [OutputType('System.Management.Automation.PSObject')]
    param(
        [Parameter(Mandatory = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('id')]
        [string] $ChangeId,

        [string[]] $Fields,

        [string[]] $AcceptDrift,

        [string] $PlanId,

        [string] $IdempotencyKey,

        [string] $IfMatch,

        [switch] $Raw
    )
    process {
        $operation = @{
            Method = 'POST'; Path = '/api/Changes/{ChangeId}/Undo'; Exists = $false
            Parameters = @('ChangeId', 'Fields', 'AcceptDrift', 'PlanId')
            Places = @{ ChangeId = 'ChangeId' }
        }
        $target = @($ChangeId) -join ', '
        if ($WhatIfPreference) {
            Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $true
        } elseif ($PSCmdlet.ShouldProcess($target)) {
            Invoke-AdgOperation -Caller $PSCmdlet -Operation $operation -Given $PSBoundParameters -DryRun $false
        }
    }
}

