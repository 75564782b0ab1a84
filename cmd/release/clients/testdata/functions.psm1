function Get-AdgGroup {
    # .SYNOPSIS
    # Shows a group.
    #
    # .DESCRIPTION
    # Lists the groups below an OU, a container or the domain.
    # Lists all groups.
    # Lists the distribution groups below an OU, a container or the domain.
    # Lists the security groups below an OU, a container or the domain.
    # GET /api/ADGroups/{GroupName} needs the scope group:read.
    # GET /api/ADGroups needs the scope group:read.
    # GET /api/ADGroups/All needs the scope group:read.
    # GET /api/ADGroups/Distribution/All needs the scope group:read.
    # GET /api/ADGroups/Security/All needs the scope group:read.
    # Page of the manual: reference/operations-group
    #
    # .PARAMETER GroupName
    # The group.
    #
    # .PARAMETER All
    # Lists all groups.
    #
    # .PARAMETER Distribution
    # Lists the distribution groups below an OU, a container or the domain.
    #
    # .PARAMETER Security
    # Lists the security groups below an OU, a container or the domain.
    #
    # .PARAMETER WithETag
    # Answer with the entity tag: of one record in the header ETag, in a list as the last member of each record.
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
    # .PARAMETER PageSize
    # Reads the list in pages of so many records, 1000 without it.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and its ids.
    #
    # .EXAMPLE
    # Get-AdgGroup -GroupName 'VPN Users'
    #
    # .EXAMPLE
    # Get-AdgGroup -OUPath 'OU=Groups,OU=Corp,DC=corp,DC=example'
    #
    # .EXAMPLE
    # Get-AdgGroup -All
    #
    # .EXAMPLE
    # Get-AdgGroup -Distribution
    #
    # .EXAMPLE
    # Get-AdgGroup -Security -OUPath 'CN=Users,DC=corp,DC=example' -Recursive:$false
    #
    # .LINK
    # Connect-AdGateway
    #
    # .LINK
    # about_AdGateway
    [CmdletBinding(PositionalBinding = $false, DefaultParameterSetName = 'List')]
    [OutputType('AdGateway.Group')]
    param(
        [Parameter(Mandatory = $true, Position = 0, ParameterSetName = 'Identity', ValueFromPipeline = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('Identity', 'samName')]
        [string[]] $GroupName,

        [Parameter(Mandatory = $true, ParameterSetName = 'All')]
        [switch] $All,

        [Parameter(Mandatory = $true, ParameterSetName = 'Distribution')]
        [switch] $Distribution,

        [Parameter(Mandatory = $true, ParameterSetName = 'Security')]
        [switch] $Security,

        [switch] $WithETag,

        [Parameter(ParameterSetName = 'List')]
        [Parameter(ParameterSetName = 'Distribution')]
        [Parameter(ParameterSetName = 'Security')]
        [Alias('Path', 'SearchBase')]
        [string] $OUPath,

        [Parameter(ParameterSetName = 'List')]
        [Parameter(ParameterSetName = 'Distribution')]
        [Parameter(ParameterSetName = 'Security')]
        [switch] $Recursive,

        [Parameter(ParameterSetName = 'List')]
        [Parameter(ParameterSetName = 'All')]
        [Parameter(ParameterSetName = 'Distribution')]
        [Parameter(ParameterSetName = 'Security')]
        [Alias('DescriptiveText')]
        [string] $Text,

        [Parameter(ParameterSetName = 'List')]
        [Parameter(ParameterSetName = 'All')]
        [Parameter(ParameterSetName = 'Distribution')]
        [Parameter(ParameterSetName = 'Security')]
        [string] $Filter,

        [Parameter(ParameterSetName = 'List')]
        [Parameter(ParameterSetName = 'All')]
        [Parameter(ParameterSetName = 'Distribution')]
        [Parameter(ParameterSetName = 'Security')]
        [Alias('ResultSetSize')]
        [long] $Limit,

        [Parameter(ParameterSetName = 'List')]
        [Parameter(ParameterSetName = 'All')]
        [Parameter(ParameterSetName = 'Distribution')]
        [Parameter(ParameterSetName = 'Security')]
        [string] $After,

        [Parameter(ParameterSetName = 'List')]
        [Parameter(ParameterSetName = 'All')]
        [Parameter(ParameterSetName = 'Distribution')]
        [Parameter(ParameterSetName = 'Security')]
        [switch] $Count,

        [int] $PageSize,

        [switch] $Raw
    )
    begin { $__line = @($PSBoundParameters.Keys); $__said = @{} }
    process {
        Invoke-AdgOperation -Caller $PSCmdlet -Function 'Get-AdgGroup' -Given $PSBoundParameters -Line $__line -Item $_ -Said $__said
    }
}

function New-AdgGroupSecurity {
    # .SYNOPSIS
    # Creates a security group.
    #
    # .DESCRIPTION
    # POST /api/ADGroups/{GroupName}/Security needs the scope group:write.
    # Page of the manual: reference/operations-group
    # -WhatIf changes nothing and returns the plan of what would be changed; its planId is for -PlanId.
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
    # .PARAMETER Reason
    # Why, for the plan, the history and the audit log.
    #
    # .PARAMETER WithETag
    # Answer with the entity tag: of one record in the header ETag, in a list as the last member of each record.
    #
    # .PARAMETER IdempotencyKey
    # With the same key the call runs once.
    #
    # .PARAMETER OnlyIfNew
    # What is there already is an error, precondition_failed.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and its ids.
    #
    # .EXAMPLE
    # New-AdgGroupSecurity -GroupName 'Sample Group' -OUPath 'OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example' -GroupDescription 'A sample'
    #
    # .EXAMPLE
    # New-AdgGroupSecurity -GroupName 'Sample Group' -OUPath 'OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example' -GroupDescription 'A sample' -WhatIf
    #
    # .LINK
    # Connect-AdGateway
    #
    # .LINK
    # about_AdGateway
    [CmdletBinding(PositionalBinding = $false, SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
    [OutputType('AdGateway.Group')]
    param(
        [Parameter(Mandatory = $true, Position = 0, ValueFromPipeline = $true, ValueFromPipelineByPropertyName = $true)]
        [string] $GroupName,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [Alias('Path', 'SearchBase')]
        [string] $OUPath,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $GroupScope,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [Alias('Description')]
        [string] $GroupDescription,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $GroupEmail,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $PlanId,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $Reason,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [switch] $WithETag,

        [string] $IdempotencyKey,

        [switch] $OnlyIfNew,

        [switch] $Raw
    )
    begin { $__line = @($PSBoundParameters.Keys); $__said = @{} }
    process {
        Invoke-AdgOperation -Caller $PSCmdlet -Function 'New-AdgGroupSecurity' -Given $PSBoundParameters -Line $__line -Item $_ -Said $__said
    }
}

function Remove-AdgMembership {
    # .SYNOPSIS
    # Removes a user from a group.
    #
    # .DESCRIPTION
    # Removes a group from another group.
    # DELETE /api/ADUser/{Username}/Group/{GroupName} needs the scope member:write.
    # DELETE /api/ADGroup/{ParentGroupName}/Group/{ChildGroupName} needs the scope member:write.
    # Page of the manual: reference/operations-membership
    # -WhatIf changes nothing and returns the plan of what would be changed; its planId is for -PlanId.
    #
    # .PARAMETER Username
    # The user.
    #
    # .PARAMETER GroupName
    # The group.
    #
    # .PARAMETER ParentGroupName
    # The group that has the member.
    #
    # .PARAMETER ChildGroupName
    # The group that is the member.
    #
    # .PARAMETER PlanId
    # Make the change as a dry run has shown it, or not at all.
    #
    # .PARAMETER Reason
    # Why, for the plan, the history and the audit log.
    #
    # .PARAMETER IdempotencyKey
    # With the same key the call runs once.
    #
    # .PARAMETER IfMatch
    # The change is made only if the object has this entity tag.
    #
    # .PARAMETER Force
    # Does not ask before the change is made.
    #
    # .PARAMETER PassThru
    # Returns the object, with the id of the change.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and its ids.
    #
    # .EXAMPLE
    # Remove-AdgMembership -Username 'aschmidt' -GroupName 'VPN Users'
    #
    # .EXAMPLE
    # Remove-AdgMembership -Username 'aschmidt' -GroupName 'VPN Users' -WhatIf
    #
    # .EXAMPLE
    # Remove-AdgMembership -ParentGroupName 'All Staff' -ChildGroupName 'Sales Staff'
    #
    # .EXAMPLE
    # Remove-AdgMembership -ParentGroupName 'All Staff' -ChildGroupName 'Sales Staff' -WhatIf
    #
    # .LINK
    # Connect-AdGateway
    #
    # .LINK
    # about_AdGateway
    [CmdletBinding(PositionalBinding = $false, DefaultParameterSetName = 'Identity', SupportsShouldProcess = $true, ConfirmImpact = 'High')]
    [OutputType('AdGateway.Membership')]
    param(
        [Parameter(Mandatory = $true, Position = 0, ParameterSetName = 'Identity', ValueFromPipeline = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('Identity', 'SamAccountName')]
        [string[]] $Username,

        [Parameter(Mandatory = $true, Position = 1, ParameterSetName = 'Identity', ValueFromPipelineByPropertyName = $true)]
        [Alias('samName')]
        [string[]] $GroupName,

        [Parameter(Mandatory = $true, ParameterSetName = 'Group', ValueFromPipelineByPropertyName = $true)]
        [string[]] $ParentGroupName,

        [Parameter(Mandatory = $true, ParameterSetName = 'Group', ValueFromPipelineByPropertyName = $true)]
        [string[]] $ChildGroupName,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $PlanId,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $Reason,

        [string] $IdempotencyKey,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [Alias('etag')]
        [string] $IfMatch,

        [switch] $Force,

        [switch] $PassThru,

        [switch] $Raw
    )
    begin { $__line = @($PSBoundParameters.Keys); $__said = @{} }
    process {
        Invoke-AdgOperation -Caller $PSCmdlet -Function 'Remove-AdgMembership' -Given $PSBoundParameters -Line $__line -Item $_ -Said $__said
    }
}

function Reset-AdgUserPassword {
    # .SYNOPSIS
    # Sets a user's password; generates one if none is given.
    #
    # .DESCRIPTION
    # PUT /api/ADUser/{UserName}/ResetPassword needs the scope user:password.
    # Page of the manual: reference/operations-user
    # -WhatIf changes nothing and returns the plan of what would be changed; its planId is for -PlanId.
    #
    # .PARAMETER Username
    # The user.
    #
    # .PARAMETER Generate
    # Of what a password is made that is not given: 24 random characters, or words and digits, which can be read out.
    #
    # .PARAMETER NewPassword
    # The new password. Without one a random password is made, see `Generate`, and shown once.
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
    # .PARAMETER Reason
    # Why, for the plan, the history and the audit log.
    #
    # .PARAMETER WithETag
    # Answer with the entity tag: of one record in the header ETag, in a list as the last member of each record.
    #
    # .PARAMETER IdempotencyKey
    # With the same key the call runs once.
    #
    # .PARAMETER IfMatch
    # The change is made only if the object has this entity tag.
    #
    # .PARAMETER Force
    # Does not ask before the change is made.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and its ids.
    #
    # .EXAMPLE
    # Reset-AdgUserPassword -Username 'aschmidt' -NewPassword (Read-Host -AsSecureString)
    #
    # .EXAMPLE
    # Reset-AdgUserPassword -Username 'aschmidt' -NewPassword (Read-Host -AsSecureString) -WhatIf
    #
    # .LINK
    # Connect-AdGateway
    #
    # .LINK
    # about_AdGateway
    [CmdletBinding(PositionalBinding = $false, SupportsShouldProcess = $true, ConfirmImpact = 'High')]
    [OutputType('AdGateway.User')]
    param(
        [Parameter(Mandatory = $true, Position = 0, ValueFromPipeline = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('Identity', 'SamAccountName')]
        [string[]] $Username,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $Generate,

        [System.Security.SecureString] $NewPassword,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [object] $ChangePassword,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [Alias('Properties')]
        [string[]] $ShowFields,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $PlanId,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $Reason,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [switch] $WithETag,

        [string] $IdempotencyKey,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [Alias('etag')]
        [string] $IfMatch,

        [switch] $Force,

        [switch] $Raw
    )
    begin { $__line = @($PSBoundParameters.Keys); $__said = @{} }
    process {
        Invoke-AdgOperation -Caller $PSCmdlet -Function 'Reset-AdgUserPassword' -Given $PSBoundParameters -Line $__line -Item $_ -Said $__said
    }
}

function Test-AdgOU {
    # .SYNOPSIS
    # Reports whether an OU or container exists.
    #
    # .DESCRIPTION
    # GET /api/OU/Path/Exists needs the scope ou:read.
    # Page of the manual: reference/operations-ou
    #
    # .PARAMETER OUPath
    # The distinguished name of the OU.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and its ids.
    #
    # .EXAMPLE
    # Test-AdgOU -OUPath 'OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example'
    #
    # .LINK
    # Connect-AdGateway
    #
    # .LINK
    # about_AdGateway
    [CmdletBinding(PositionalBinding = $false)]
    [OutputType('System.Boolean')]
    param(
        [Parameter(Mandatory = $true, Position = 0, ValueFromPipeline = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('Identity', 'Path', 'SearchBase')]
        [string] $OUPath,

        [switch] $Raw
    )
    begin { $__line = @($PSBoundParameters.Keys); $__said = @{} }
    process {
        Invoke-AdgOperation -Caller $PSCmdlet -Function 'Test-AdgOU' -Given $PSBoundParameters -Line $__line -Item $_ -Said $__said
    }
}

function Undo-AdgChange {
    # .SYNOPSIS
    # Takes a change back, with the rights of whoever calls: the scope of the row that does it is needed, too.
    #
    # .DESCRIPTION
    # POST /api/Changes/{ChangeId}/Undo needs the scope change:undo.
    # Page of the manual: reference/operations-change
    # -WhatIf changes nothing and returns the plan of what would be changed; its planId is for -PlanId.
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
    # .PARAMETER Reason
    # Why, for the plan, the history and the audit log.
    #
    # .PARAMETER IdempotencyKey
    # With the same key the call runs once.
    #
    # .PARAMETER IfMatch
    # The change is made only if the object has this entity tag.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and its ids.
    #
    # .EXAMPLE
    # Undo-AdgChange -ChangeId 'ch_019ab3f0-0000-7000-8000-000000000000'
    #
    # .EXAMPLE
    # Undo-AdgChange -ChangeId 'ch_019ab3f0-0000-7000-8000-000000000000' -WhatIf
    #
    # .LINK
    # Connect-AdGateway
    #
    # .LINK
    # about_AdGateway
    [CmdletBinding(PositionalBinding = $false, SupportsShouldProcess = $true, ConfirmImpact = 'Medium')]
    [OutputType('AdGateway.Change')]
    param(
        [Parameter(Mandatory = $true, Position = 0, ValueFromPipeline = $true, ValueFromPipelineByPropertyName = $true)]
        [Alias('Identity', 'id')]
        [string[]] $ChangeId,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string[]] $Fields,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string[]] $AcceptDrift,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $PlanId,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [string] $Reason,

        [string] $IdempotencyKey,

        [Parameter(ValueFromPipelineByPropertyName = $true)]
        [Alias('etag')]
        [string] $IfMatch,

        [switch] $Raw
    )
    begin { $__line = @($PSBoundParameters.Keys); $__said = @{} }
    process {
        Invoke-AdgOperation -Caller $PSCmdlet -Function 'Undo-AdgChange' -Given $PSBoundParameters -Line $__line -Item $_ -Said $__said
    }
}

function Get-AdgGroupListAll {
    # .SYNOPSIS
    # Lists all groups.
    #
    # .DESCRIPTION
    # The name of the version before: use Get-AdgGroup -All. It goes with the next version.
    # GET /api/ADGroups/All needs the scope group:read.
    # Page of the manual: reference/operations-group
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
    # Reads the list in pages of so many records, 1000 without it.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and its ids.
    #
    # .EXAMPLE
    # Get-AdgGroupListAll
    #
    # .LINK
    # Connect-AdGateway
    #
    # .LINK
    # about_AdGateway
    [CmdletBinding(PositionalBinding = $false)]
    [OutputType('AdGateway.Group')]
    param(
        [Alias('DescriptiveText')]
        [string] $Text,

        [string] $Filter,

        [Alias('ResultSetSize')]
        [long] $Limit,

        [string] $After,

        [bool] $Count,

        [bool] $WithETag,

        [int] $PageSize,

        [switch] $Raw
    )
    begin { $__line = @($PSBoundParameters.Keys); $__said = @{} }
    process {
        Invoke-AdgOperation -Caller $PSCmdlet -Function 'Get-AdgGroupListAll' -Given $PSBoundParameters -Line $__line -Item $_ -Said $__said
    }
}

