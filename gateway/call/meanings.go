package call

import (
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
)

// Meanings that several rows share, and meanings of errors without a row.
var (
	denied = meaning{
		schema.DirectoryDenied,
		"The gateway's service account may not do this: access is denied.",
	}
	exists       = meaning{schema.Conflict, "The object already exists."}
	missing      = meaning{schema.NotFound, "The object was not found."}
	badReference = meaning{schema.Unprocessable, "A referenced object does not exist."}
	badPassword  = meaning{
		schema.Policy,
		"The password does not meet the length, complexity or history requirements of the domain. " +
			"GET /api/ADUser/{UserName}/PasswordPolicy shows a user's requirements.",
	}
	unwilling  = meaning{schema.Unprocessable, "The directory is unwilling to do this."}
	constraint = meaning{schema.Unprocessable, "A value violates a constraint of the directory."}
	badModify  = meaning{schema.Unprocessable, "The directory does not allow this change of the attribute."}
	elsewhere  = meaning{schema.Unprocessable, "The name belongs to another domain."}
	ambiguous  = meaning{schema.Ambiguous, "Several objects have this name."}
	shutZone   = meaning{schema.Conflict, "The zone is paused or shut down."}
	noServer   = meaning{schema.Unavailable, "No domain controller can be reached."}
	noCapacity = meaning{
		schema.Unavailable,
		"The domain controller has no capacity for the request. Try again later.",
	}
	tookLong = meaning{schema.Timeout, "The directory did not answer in time."}
	rejected = meaning{
		schema.Backend,
		"The directory rejected the credentials of the gateway's service account.",
	}
	tooLarge = meaning{
		schema.Backend,
		"The message is larger than the web service of the directory accepts.",
	}
	unmapped = meaning{
		schema.Backend,
		"The directory or DNS server answered with an error that the gateway does not know.",
	}
	ourFault = meaning{schema.Internal, problem.OurFault}
)

// mapping is the table of all errors that have a meaning.
var mapping = []row{
	{number: 5, meaning: denied, source: "facts D.2"},
	{
		number: 8344, origin: directory, source: "facts D.2",
		meaning: meaning{
			schema.DirectoryDenied,
			"The gateway's service account has insufficient rights for this.",
		},
	},
	{
		number: 1316, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Conflict, "An account of this name already exists."},
	},
	{
		number: 1318, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Conflict, "A group of this name already exists."},
	},
	{number: 5010, origin: directory, meaning: exists, source: "facts D.2"},
	{
		number: 8305, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Conflict, "The name is already in use in this place."},
	},
	{
		number: 8647, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Conflict, "The service principal name is already in use in the forest."},
	},
	{
		number: 8648, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Conflict, "The user principal name is already in use in the forest."},
	},
	{
		number: 1374, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Conflict, "The group is the account's primary group."},
	},
	{
		number: 8521, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Conflict, "The group is the primary group of accounts."},
	},
	{
		number: 1371, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Protected, "This cannot be done to a built-in account."},
	},
	{
		number: 8398, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Protected, "The directory does not let this object be removed."},
	},
	{
		number: 8560, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Protected, "Critical system objects cannot be removed."},
	},
	{
		number: 8213, origin: directory, source: "facts D.2",
		meaning: meaning{schema.NotEmpty, "The object has other objects below it."},
	},
	{number: 1325, origin: directory, meaning: badPassword, source: "facts D.2"},
	{
		number: 86, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Policy, "The old password is not correct."},
	},
	{
		number: 8329, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unprocessable, "The parent does not exist or is deleted."},
	},
	{number: 8333, origin: directory, meaning: badReference, source: "facts D.2"},
	{number: 8240, origin: directory, meaning: badReference, source: "facts D.2"},
	{
		number: 8242, origin: directory, source: "facts D18",
		meaning: meaning{schema.Unprocessable, "A name is not valid in a distinguished name. Give another one."},
	},
	{number: 8245, origin: directory, meaning: unwilling, source: "facts D.2"},
	{number: 8239, origin: directory, meaning: constraint, source: "facts D.2"},
	{
		number: 8247, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unprocessable, "The name violates the naming rules of the directory."},
	},
	{
		number: 8212, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unprocessable, "The change violates the rules of the object's class."},
	},
	{number: 8311, origin: directory, meaning: badModify, source: "facts D.2"},
	{
		number: 8316, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unprocessable, "A required attribute is missing."},
	},
	{
		number: 8322, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unprocessable, "A value is not in the range that the directory accepts."},
	},
	{
		number: 8345, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unprocessable, "An object of this class cannot be there."},
	},
	{
		number: 8513, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unprocessable, "The group type is invalid."},
	},
	{
		number: 8516, origin: directory, source: "facts D.2",
		meaning: meaning{
			schema.Unprocessable,
			"A global group cannot have a domain local group as a member.",
		},
	},
	{
		number: 8517, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unprocessable, "A global group cannot have a universal group as a member."},
	},
	{
		number: 8518, origin: directory, source: "facts D.2",
		meaning: meaning{
			schema.Unprocessable,
			"A universal group cannot have a domain local group as a member.",
		},
	},
	{
		number: 8519, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unprocessable, "A global group cannot have a member from another domain."},
	},
	{
		number: 8520, origin: directory, source: "facts D.2",
		meaning: meaning{
			schema.Unprocessable,
			"A domain local group cannot have another domain's local group as a member.",
		},
	},
	{
		number: 8549, origin: directory, source: "facts D.2",
		meaning: meaning{
			schema.Unprocessable,
			"A foreign security principal cannot be a member of a universal group.",
		},
	},
	{number: 8235, origin: directory, meaning: elsewhere, source: "facts D.2"},
	{
		number: 8206, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unavailable, "The directory is busy."},
	},
	{
		number: 8208, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unavailable, "The directory has no relative identifiers left."},
	},
	{
		number: 1355, origin: directory, source: "facts D.2",
		meaning: meaning{schema.Unavailable, "No domain controller can be reached."},
	},
	{
		number: 8250, origin: directory, source: "facts G9",
		meaning: meaning{schema.Unavailable, "The domain controller cannot be reached over LDAP."},
	},
	{
		number: 1307, origin: directory, source: "facts D18",
		meaning: meaning{schema.Unprocessable, "The directory does not accept the owner of the object."},
	},
	{
		number: 1315, origin: directory, source: "facts D18",
		meaning: meaning{schema.Unprocessable, "The account name is not properly formed."},
	},
	{
		number: 1320, origin: directory, source: "facts D18",
		meaning: meaning{schema.Conflict, "The account is already a member of the group."},
	},
	{
		number: 1321, origin: directory, source: "facts D18",
		meaning: meaning{schema.Conflict, "The account is not a member of the group."},
	},
	{
		number: 1377, origin: directory, source: "facts D18",
		meaning: meaning{schema.Conflict, "The account is not a member of the group."},
	},
	{
		number: 1378, origin: directory, source: "facts D18",
		meaning: meaning{schema.Conflict, "The account is already a member of the group."},
	},
	{
		number: 31, origin: directory, source: "facts D18",
		meaning: meaning{
			schema.Unprocessable,
			"The directory is unwilling to do this; a name may be too long.",
		},
	},
	{
		number: 8224, origin: directory, source: "facts D18",
		meaning: meaning{schema.Unprocessable, "The directory could not do this."},
	},
	{
		number: 8341, origin: directory, source: "facts D18",
		meaning: meaning{schema.Unprocessable, "The directory could not do this."},
	},
	{
		number: 8557, origin: directory, source: "facts D18",
		meaning: meaning{
			schema.DirectoryDenied,
			"The gateway's service account may not create more computer accounts: its quota is used up.",
		},
	},

	{
		number: 1726, origin: dnsServer, source: "facts D18",
		meaning: meaning{schema.Unavailable, "The DNS server ended the call."},
	},
	{
		number: 1722, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unavailable, "The DNS server cannot be reached."},
	},
	{
		number: 1753, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unavailable, "The DNS server cannot be reached."},
	},
	{
		number: 9569, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unavailable, "The DNS server is read-only."},
	},
	{
		number: 9717, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unavailable, "The directory is unavailable to the DNS server."},
	},
	{
		number: 9601, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.NotFound, "The zone was not found."},
	},
	{
		number: 9701, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.NotFound, "The record was not found."},
	},
	{
		number: 9714, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.NotFound, "The name was not found."},
	},
	{
		number: 9609, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The zone already exists."},
	},
	{
		number: 9552, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The DNS server does not accept an address."},
	},
	{
		number: 9553, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The DNS server does not accept a value."},
	},
	{
		number: 9566, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "A value is too small for the DNS server."},
	},
	{
		number: 9567, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "A value is too large for the DNS server."},
	},
	{
		number: 9554, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unavailable, "The DNS server is busy. Try again later."},
	},
	{
		number: 9568, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unavailable, "The DNS server is loading the zone. Try again later."},
	},
	{
		number: 9607, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unavailable, "The zone is locked, for example during a transfer. Try again later."},
	},
	{
		number: 9602, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.NotFound, "The zone was not found."},
	},
	{
		number: 9604, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The zone is configured in a way that does not allow this."},
	},
	{
		number: 9605, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Protected, "A zone must keep its SOA record."},
	},
	{
		number: 9606, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Protected, "A zone must keep a name server."},
	},
	{
		number: 9618, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Protected, "A zone must keep its SOA record."},
	},
	{
		number: 9608, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Backend, "The DNS server could not create the zone."},
	},
	{
		number: 9613, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "This cannot be done to a zone of this type."},
	},
	{
		number: 9619, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "A conditional forwarder of this name already exists."},
	},
	{
		number: 9612, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "Addresses of master servers are missing."},
	},
	{
		number: 9614, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "Addresses of secondary servers are missing."},
	},
	{
		number: 9620, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "Addresses of master servers are missing."},
	},
	{
		number: 9652, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The name of the zone cannot be used as a file name."},
	},
	{
		number: 9653, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Backend, "The DNS server could not open the zone's file."},
	},
	{
		number: 9654, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Backend, "The DNS server could not write the zone's file."},
	},
	{
		number: 9655, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Backend, "The DNS server could not read the zone's file."},
	},
	{
		number: 9610, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The zone already exists as one that the server created automatically."},
	},
	{
		number: 9718, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The zone already exists in the directory."},
	},
	{
		number: 9711, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The record already exists."},
	},
	{
		number: 9708, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The name already has a CNAME record."},
	},
	{
		number: 9709, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The name already has other records."},
	},
	{
		number: 9563, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The name lies below a delegation."},
	},
	{
		number: 9603, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "This cannot be done to a zone of this type."},
	},
	{
		number: 9611, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "This cannot be done to a zone of this type."},
	},
	{number: 9621, origin: dnsServer, meaning: shutZone, source: "facts D.3"},
	{
		number: 9707, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The CNAME record would lead back to itself."},
	},
	{
		number: 9706, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The name lies outside the zone."},
	},
	{
		number: 123, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The name is not one that the DNS server accepts."},
	},
	{
		number: 9560, origin: dnsServer, source: "facts D.3",
		meaning: meaning{
			schema.Unprocessable,
			"The name holds a character that the DNS server does not accept.",
		},
	},
	{
		number: 9551, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The DNS server does not know the type."},
	},
	{
		number: 9556, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The name check of the DNS server does not allow the name."},
	},
	{
		number: 9561, origin: dnsServer, source: "facts D.3",
		meaning: meaning{
			schema.Unprocessable,
			"The name check of the DNS server does not allow a name of digits only.",
		},
	},
	{
		number: 9555, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The name is not unique."},
	},
	{
		number: 9570, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The name lies below a DNAME record."},
	},
	{
		number: 9720, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "The name has a DNAME record."},
	},
	{
		number: 9721, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Conflict, "A DNAME record prevents this."},
	},
	{
		number: 9722, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The alias would lead back to itself."},
	},
	{
		number: 9702, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The DNS server does not accept the record's data."},
	},
	{
		number: 9704, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The DNS server does not know the type of the record."},
	},
	{
		number: 9719, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The DNS server has no boot file."},
	},
	{
		number: 9705, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unavailable, "The DNS server did not finish in time. Try again later."},
	},
	{
		number: 9703, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Backend, "The DNS server could not create the name."},
	},
	{
		number: 9712, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Backend, "The data belong to a secondary zone."},
	},
	{
		number: 9713, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Backend, "The data belong to the cache of the DNS server."},
	},
	{
		number: 9710, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "Such a record can only be at the zone's own name."},
	},
	{
		number: 9651, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The zone needs a data file."},
	},
	{
		number: 9901, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The directory partition does not exist."},
	},
	{
		number: 9902, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The directory partition already exists."},
	},
	{
		number: 9903, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The DNS server is not enlisted in the directory partition."},
	},
	{
		number: 9904, origin: dnsServer, source: "facts D.3",
		meaning: meaning{
			schema.Unprocessable,
			"The DNS server is already enlisted in the directory partition.",
		},
	},
	{
		number: 9905, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The directory partition is not available."},
	},
	{
		number: 9906, origin: dnsServer, source: "facts D.3",
		meaning: meaning{schema.Unprocessable, "The directory partition is in an unexpected state."},
	},

	{fault: "AccessDenied", meaning: denied, source: "facts D14"},
	{fault: "AlreadyExists", meaning: exists, source: "facts D14"},
	{fault: "DestinationUnreachable", meaning: badReference, source: "facts D14"},
	{fault: "InvalidRepresentation", meaning: constraint, source: "facts D14"},
	{fault: "UnwillingToPerform", meaning: unwilling, source: "facts D14"},
	{fault: "EndpointUnavailable", meaning: noCapacity, source: "facts D14"},
	{fault: "EnumerationContextLimitExceeded", meaning: noCapacity, source: "facts D14"},
	{fault: "MaxEnumCtxsTotalReached", meaning: noCapacity, source: "facts D14"},
	{fault: "EOutOfMemory", meaning: noCapacity, source: "facts D14"},
	{
		fault: "InvalidEnumerationContext", source: "facts D14",
		meaning: meaning{schema.Unavailable, "The domain controller gave up the search. Try again later."},
	},
	{fault: "EncodingLimit", meaning: tooLarge, source: "facts D14"},
	{fault: "OperationTimeout", meaning: tookLong, source: "facts D14"},
	{fault: "TimedOut", meaning: tookLong, source: "facts D14"},
	{fault: "MaxTimeExceedsLimit", meaning: tookLong, source: "facts D14"},
	{fault: "MaxTimeExceedsLimitDetail", meaning: tookLong, source: "facts D14"},
	{fault: "EObjectNotFound", meaning: badReference, source: "facts D14"},
	{fault: "ENoMatchingSecurityPrincipal", meaning: badReference, source: "facts D14"},
	{fault: "EMultipleMatchingSecurityPrincipals", meaning: ambiguous, source: "facts D14"},
	{fault: "EPassword", meaning: badPassword, source: "facts D14"},
	{fault: "EUnauthorizedAccess", meaning: denied, source: "facts D14"},
	{fault: "AnonymousNotAllowed", meaning: rejected, source: "facts D14"},
	{fault: "EModifyOperationUnsupported", meaning: badModify, source: "facts D14"},
	{fault: "ENotSupported", meaning: unwilling, source: "facts D14"},
	{fault: "DuplicateAttributeWithValues", meaning: constraint, source: "facts D14"},
	{fault: "CannotProcessFilter", meaning: ourFault, source: "facts D14"},
	{fault: "InvalidSearchFilterForQuery", meaning: ourFault, source: "facts D14"},
	{fault: "InvalidPropertyFault", meaning: ourFault, source: "facts D14"},
	{fault: "UnknownAttribute", meaning: ourFault, source: "facts D14"},
	{fault: "EUnknownAttribute", meaning: ourFault, source: "facts D14"},
	{fault: "UnknownAttributeType", meaning: ourFault, source: "facts D14"},
	{fault: "SchemaValidationError", meaning: ourFault, source: "facts D14"},

	{id: "SetADGroupMember.ValidateMembersParameter", meaning: badReference, source: "facts E26"},

	{typ: serverDownType, meaning: noServer, source: "facts D16"},
	{typ: directoryTypes + "ADIdentityNotFoundException", meaning: badReference, source: "facts D15"},
	{typ: directoryTypes + "ADIdentityAlreadyExistsException", meaning: exists, source: "facts D6"},
	{typ: directoryTypes + "ADMultipleMatchingIdentitiesException", meaning: ambiguous, source: "facts D15"},
	{typ: directoryTypes + "ADPasswordComplexityException", meaning: badPassword, source: "facts D6"},
	{typ: directoryTypes + "ADPasswordException", meaning: badPassword, source: "facts D6"},
	{
		typ: directoryTypes + "ADInvalidPasswordException", source: "facts D6",
		meaning: meaning{schema.Policy, "The old password is not correct."},
	},
	{typ: directoryTypes + "ADReferralException", meaning: elsewhere, source: "facts D6"},
	{typ: directoryTypes + "ADInvalidOperationException", meaning: unwilling, source: "facts D6"},
	{typ: directoryTypes + "ADIllegalModifyOperationException", meaning: badModify, source: "facts D6"},
	{typ: directoryTypes + "ADFilterParsingException", meaning: ourFault, source: "facts D6"},
	{typ: "System.UnauthorizedAccessException", meaning: denied, source: "facts D6"},
	{typ: "System.Security.Authentication.AuthenticationException", meaning: rejected, source: "facts D17"},
	{typ: "System.TimeoutException", meaning: tookLong, source: "facts D6"},
}
