# Operators and attributes of the ActiveDirectory module, and what filters of the gateway have instead.
$script:FilterWords = @{
    '-eq' = 'eq'; '-ne' = 'ne'; '-lt' = 'lt'; '-le' = 'le'; '-gt' = 'gt'; '-ge' = 'ge'; '-and' = 'and'; '-or' = 'or'; '-not' = 'not'; '-like' = 'like'
}
$script:FilterNames = @{
    'samaccountname' = 'username'; 'givenname' = 'firstName'; 'surname' = 'lastName'; 'sn' = 'lastName'; 'title' = 'jobTitle'; 'mail' = 'emailAddress'
    'userprincipalname' = 'userPrincipalName'; 'displayname' = 'displayName'; 'emailaddress' = 'emailAddress'; 'streetaddress' = 'streetAddress'
    'postalcode' = 'postalCode'; 'officephone' = 'officePhone'; 'homephone' = 'homePhone'; 'mobilephone' = 'mobilePhone'; 'mobile' = 'mobilePhone'
    'employeeid' = 'employeeId'; 'employeenumber' = 'employeeNumber'; 'lockedout' = 'lockedOut'; 'passwordneverexpires' = 'passwordNeverExpired'
    'accountexpirationdate' = 'accountExpires'; 'whencreated' = 'created'; 'whenchanged' = 'modified'; 'passwordlastset' = 'passwordLastSet'
    'lastlogondate' = 'lastLogonApprox'; 'memberof' = 'memberOf'; 'objectguid' = 'guid'
}
