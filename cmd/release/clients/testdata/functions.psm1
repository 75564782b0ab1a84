function Get-AdgGroup {
    # .SYNOPSIS
    # Shows a group.
    #
    # .DESCRIPTION
    # Lists the groups below an OU, a container, or the domain.
    # Lists all groups.
    # Lists the distribution groups below an OU, a container, or the domain.
    # Lists the security groups below an OU, a container, or the domain.
    # GET /api/ADGroups/{GroupName} requires the scope group:read.
    # GET /api/ADGroups requires the scope group:read.
    # GET /api/ADGroups/All requires the scope group:read.
    # GET /api/ADGroups/Distribution/All requires the scope group:read.
    # GET /api/ADGroups/Security/All requires the scope group:read.
    # Manual page: reference/operations-group
    #
    # .PARAMETER GroupName
    # Group that the operation applies to.
    #
    # .PARAMETER All
    # Lists all groups.
    #
    # .PARAMETER Distribution
    # Lists the distribution groups below an OU, a container, or the domain.
    #
    # .PARAMETER Security
    # Lists the security groups below an OU, a container, or the domain.
    #
    # .PARAMETER WithETag
    # Whether to return entity tags: for a single record in the header ETag, for a list as the last member of each record.
    #
    # .PARAMETER OUPath
    # OU or container to search. If absent, the whole domain is searched.
    #
    # .PARAMETER Recursive
    # Whether to search below the OU, too.
    #
    # .PARAMETER Text
    # Text to search for. If absent, the groups are not searched by text.
    #
    # .PARAMETER Filter
    # Filter that the groups must match. If absent, the groups are not filtered.
    #
    # .PARAMETER Limit
    # Maximum number of records in a page; pages are ordered by GUID. If absent, the answer is the whole list, ordered by name.
    #
    # .PARAMETER After
    # Cursor of the page to return. If absent, the first page is returned.
    #
    # .PARAMETER Count
    # Whether to return the total number of records, which requires a complete search.
    #
    # .PARAMETER PageSize
    # Number of records in each page that is read; the default is 1000.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and the IDs of the request and the change.
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
    # POST /api/ADGroups/{GroupName}/Security requires the scope group:write.
    # Manual page: reference/operations-group
    # -WhatIf changes nothing and returns a plan of the change; to apply the plan, pass its planId to -PlanId.
    #
    # .PARAMETER GroupName
    # sAMAccountName and common name (CN) of the new group.
    #
    # .PARAMETER OUPath
    # OU or container for the group. If absent, the group is created in the domain's container for users.
    #
    # .PARAMETER GroupScope
    # Scope of the group.
    #
    # .PARAMETER GroupDescription
    # Description. Text for the LDAP attribute description; line breaks are allowed.
    #
    # .PARAMETER GroupEmail
    # Email address. Text for the LDAP attribute mail.
    #
    # .PARAMETER PlanId
    # Plan from a dry run. The change is made exactly as planned, or not at all.
    #
    # .PARAMETER Reason
    # Reason for the change, for the plan, the history, and the audit log.
    #
    # .PARAMETER WithETag
    # Whether to return entity tags: for a single record in the header ETag, for a list as the last member of each record.
    #
    # .PARAMETER IdempotencyKey
    # Unique key for the call. If you repeat the call with the same key, it is not run again.
    #
    # .PARAMETER OnlyIfNew
    # Fails with precondition_failed if the object already exists.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and the IDs of the request and the change.
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
    # DELETE /api/ADUser/{Username}/Group/{GroupName} requires the scope member:write.
    # DELETE /api/ADGroup/{ParentGroupName}/Group/{ChildGroupName} requires the scope member:write.
    # Manual page: reference/operations-membership
    # -WhatIf changes nothing and returns a plan of the change; to apply the plan, pass its planId to -PlanId.
    #
    # .PARAMETER Username
    # User that the operation applies to.
    #
    # .PARAMETER GroupName
    # Group that the operation applies to.
    #
    # .PARAMETER ParentGroupName
    # Group that contains the member group.
    #
    # .PARAMETER ChildGroupName
    # Group that is the member.
    #
    # .PARAMETER PlanId
    # Plan from a dry run. The change is made exactly as planned, or not at all.
    #
    # .PARAMETER Reason
    # Reason for the change, for the plan, the history, and the audit log.
    #
    # .PARAMETER IdempotencyKey
    # Unique key for the call. If you repeat the call with the same key, it is not run again.
    #
    # .PARAMETER IfMatch
    # Entity tag that the object must have; otherwise, the change is not made.
    #
    # .PARAMETER Force
    # Makes the change without asking for confirmation.
    #
    # .PARAMETER PassThru
    # Returns the object, with the ID of the change.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and the IDs of the request and the change.
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
    # PUT /api/ADUser/{UserName}/ResetPassword requires the scope user:password.
    # Manual page: reference/operations-user
    # -WhatIf changes nothing and returns a plan of the change; to apply the plan, pass its planId to -PlanId.
    #
    # .PARAMETER Username
    # User that the operation applies to.
    #
    # .PARAMETER Generate
    # Type of the generated password: 24 random characters, or words and digits, which are easy to read aloud.
    #
    # .PARAMETER NewPassword
    # New password. If absent, the gateway generates a password (see Generate) and shows it once.
    #
    # .PARAMETER ChangePassword
    # Whether the user must change the password at the next logon. Ignored, with a warning, if the password never expires.
    #
    # .PARAMETER ShowFields
    # Fields to return.
    #
    # .PARAMETER PlanId
    # Plan from a dry run. The change is made exactly as planned, or not at all.
    #
    # .PARAMETER Reason
    # Reason for the change, for the plan, the history, and the audit log.
    #
    # .PARAMETER WithETag
    # Whether to return entity tags: for a single record in the header ETag, for a list as the last member of each record.
    #
    # .PARAMETER IdempotencyKey
    # Unique key for the call. If you repeat the call with the same key, it is not run again.
    #
    # .PARAMETER IfMatch
    # Entity tag that the object must have; otherwise, the change is not made.
    #
    # .PARAMETER Force
    # Makes the change without asking for confirmation.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and the IDs of the request and the change.
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
    # GET /api/OU/Path/Exists requires the scope ou:read.
    # Manual page: reference/operations-ou
    #
    # .PARAMETER OUPath
    # OU or container that the operation applies to.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and the IDs of the request and the change.
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
    # Undoes a change with the permissions of the caller. Also requires the scope of the operation that undoes it.
    #
    # .DESCRIPTION
    # POST /api/Changes/{ChangeId}/Undo requires the scope change:undo.
    # Manual page: reference/operations-change
    # -WhatIf changes nothing and returns a plan of the change; to apply the plan, pass its planId to -PlanId.
    #
    # .PARAMETER ChangeId
    # Change that the operation applies to.
    #
    # .PARAMETER Fields
    # Fields to undo. If absent, all fields are undone.
    #
    # .PARAMETER AcceptDrift
    # Fields that can be overwritten even if they have changed since. If absent, a change is not undone if a field has changed since.
    #
    # .PARAMETER PlanId
    # Plan from a dry run. The change is made exactly as planned, or not at all.
    #
    # .PARAMETER Reason
    # Reason for the change, for the plan, the history, and the audit log.
    #
    # .PARAMETER IdempotencyKey
    # Unique key for the call. If you repeat the call with the same key, it is not run again.
    #
    # .PARAMETER IfMatch
    # Entity tag that the object must have; otherwise, the change is not made.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and the IDs of the request and the change.
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
    # Deprecated name, which the next version will not have; use Get-AdgGroup -All instead.
    # GET /api/ADGroups/All requires the scope group:read.
    # Manual page: reference/operations-group
    #
    # .PARAMETER Text
    # Text to search for. If absent, the groups are not searched by text.
    #
    # .PARAMETER Filter
    # Filter that the groups must match. If absent, the groups are not filtered.
    #
    # .PARAMETER Limit
    # Maximum number of records in a page; pages are ordered by GUID. If absent, the answer is the whole list, ordered by name.
    #
    # .PARAMETER After
    # Cursor of the page to return. If absent, the first page is returned.
    #
    # .PARAMETER Count
    # Whether to return the total number of records, which requires a complete search.
    #
    # .PARAMETER WithETag
    # Whether to return entity tags: for a single record in the header ETag, for a list as the last member of each record.
    #
    # .PARAMETER PageSize
    # Number of records in each page that is read; the default is 1000.
    #
    # .PARAMETER Raw
    # Returns the whole answer: output, result, next, warnings, and the IDs of the request and the change.
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

