package adcmd

import (
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

const serviceModel = "System.ServiceModel."

// The exceptions of the web service's client that are inside the exceptions of the module (facts D14, D16).
var (
	tCommunication = define(dotnet.Class{Name: serviceModel + "CommunicationException",
		Base: dotnet.Lookup("System.SystemException")})
	tFault       = define(dotnet.Class{Name: serviceModel + "FaultException", Base: tCommunication})
	tNoEndpoint  = define(dotnet.Class{Name: serviceModel + "EndpointNotFoundException", Base: tCommunication})
	tNegotiation = define(dotnet.Class{Name: serviceModel + "Security.SecurityNegotiationException",
		Base: tCommunication})
	tFaultCode = define(dotnet.Class{Name: serviceModel + "FaultCode"})
)

// faultOf maps Win32 codes to the subcode of the fault that contains them, if that subcode is known (facts
// D14).
var faultOf = map[int]string{
	directory.CodeAccessDenied: "AccessDenied",
	directory.CodeObjectExists: "AlreadyExists",
	directory.CodeNoSuchObject: "DestinationUnreachable",
	directory.CodeNotFound:     "DestinationUnreachable",
	directory.CodeConstraint:   "InvalidRepresentation",
	directory.CodeUnwilling:    "UnwillingToPerform",
}

// faultReasons are the server's own sentences, always in English, for faults for which the module has no
// text.
var faultReasons = map[string]string{
	"EndpointUnavailable": "A connection to the directory on which to process the request was unavailable. This is likely a transient condition.",
}

// newFault returns a FaultException. If subcode is empty, the exception has none.
func newFault(reason, subcode string) *dotnet.Exception {
	code := dotnet.NewInstance(tFaultCode, "Name", "Sender", "SubCode", nil)
	if subcode != "" {
		code.Props.Set("SubCode", dotnet.NewInstance(tFaultCode, "Name", subcode, "SubCode", nil))
	}
	fault := dotnet.NewException(tFault, reason)
	fault.Props.Set("Code", code)
	fault.Props.Set("Detail", nil) // scripts look there for the names that ADWS itself uses
	return fault
}
