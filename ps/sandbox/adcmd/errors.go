package adcmd

import (
	"context"
	"errors"
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// byCode maps Win32 codes to exception types (facts D.1). All other codes have the type ADException.
var byCode = map[int]string{
	directory.CodeAccessDenied:        "System.UnauthorizedAccessException",
	directory.CodeInvalidPassword:     "ADInvalidPasswordException",
	directory.CodeInvalidParameter:    "ADInvalidOperationException",
	directory.CodeAccountExists:       "ADIdentityAlreadyExistsException",
	directory.CodeObjectExists:        "ADIdentityAlreadyExistsException",
	directory.CodePasswordRestriction: "ADPasswordComplexityException",
	directory.CodeLogonFailure:        "System.Security.Authentication.AuthenticationException",
	directory.CodeClassViolation:      "ADInvalidOperationException",
	directory.CodeConstraint:          "ADInvalidOperationException",
	directory.CodeUnwilling:           "ADInvalidOperationException",
	directory.CodeNaming:              "ADInvalidOperationException",
	directory.CodeNoSuchObject:        "ADIdentityNotFoundException",
	directory.CodeNotFound:            "ADIdentityNotFoundException",
	directory.CodeIllegalModify:       "ADIllegalModifyOperationException",
}

// categories maps exception types to error categories. An unlisted type is NotSpecified,
// even if its base type is listed (facts D6).
var categories = map[string]dotnet.Category{
	"ADIdentityNotFoundException":                            dotnet.ObjectNotFound,
	"ADIdentityAlreadyExistsException":                       dotnet.ResourceExists,
	"ADMultipleMatchingIdentitiesException":                  dotnet.InvalidData,
	"ADIdentityResolutionException":                          dotnet.InvalidData,
	"ADPasswordException":                                    dotnet.InvalidData,
	"ADPasswordComplexityException":                          dotnet.InvalidData,
	"ADInvalidPasswordException":                             dotnet.InvalidData,
	"ADServerDownException":                                  dotnet.ResourceUnavailable,
	"ADReferralException":                                    dotnet.ResourceUnavailable,
	"ADInvalidOperationException":                            dotnet.InvalidOperation,
	"ADIllegalModifyOperationException":                      dotnet.InvalidOperation,
	"System.NotSupportedException":                           dotnet.InvalidOperation,
	"System.UnauthorizedAccessException":                     dotnet.PermissionDenied,
	"System.Security.Authentication.AuthenticationException": dotnet.SecurityError,
	"System.ArgumentException":                               dotnet.InvalidArgument,
	"System.ArgumentOutOfRangeException":                     dotnet.InvalidArgument,
	"System.TimeoutException":                                dotnet.OperationTimeout,
	"System.FormatException":                                 dotnet.InvalidType,
}

// systemTypes are the .NET exception types that failures use.
var systemTypes = map[string]*dotnet.Type{}

func init() {
	names := []string{
		"System.Management.Automation.ParameterBindingException",
		"System.Management.Automation.ParameterBindingValidationException",
		"System.Management.Automation.PSInvalidOperationException",
	}
	for name := range categories {
		if types[name] == nil {
			names = append(names, name)
		}
	}
	for _, name := range names {
		t := dotnet.Lookup(name)
		if t == nil && strings.HasPrefix(name, "System.") {
			t = dotnet.Define(dotnet.Class{Name: name, Base: dotnet.Lookup("System.Exception")})
		}
		systemTypes[name] = t
	}
}

// typeNamed returns an exception type of this module or of .NET.
func typeNamed(name string) *dotnet.Type {
	if t := types[name]; t != nil {
		return t
	}
	return systemTypes[name]
}

// failure describes an error for which an error record is created.
type failure struct {
	typ      string // short name of a type of this module, or full name of a .NET type
	message  string
	code     int
	server   string            // ServerErrorMessage, or ServerName
	inner    *dotnet.Exception // nil if the module itself raises the error
	id       string            // overrides the default error id
	category *dotnet.Category  // overrides the category of the type
	param    string            // ParamName of an ArgumentException
}

// record creates the error record. Only exceptions that have an ErrorCode contain the code,
// which is then also part of the error id (facts D1, D15).
func (c *call) record(f failure) *dotnet.ErrorRecord {
	t := typeNamed(f.typ)
	e := &dotnet.Exception{Type: t, Message: f.message, Inner: f.inner}
	id := "ActiveDirectoryCmdlet:" + t.Name
	switch {
	case t == tServerDown:
		e.Props.Set("ErrorCode", int32(f.code))
		e.Props.Set("ServerName", text(f.server))
		id = "ActiveDirectoryServer:" + itoa(f.code)
	case t.AssignableTo(tException):
		e.Props.Set("ErrorCode", int32(f.code))
		e.Props.Set("ServerErrorMessage", text(f.server))
		id = "ActiveDirectoryServer:" + itoa(f.code)
	}
	if f.param != "" {
		e.Props.Set("ParamName", f.param)
		e.Message += "\r\n" + c.say("parameterName", f.param)
	}
	if f.id != "" {
		id = f.id
	}
	category := categories[f.typ]
	if f.category != nil {
		category = *f.category
	}
	return dotnet.NewError(e, id, category, c.target)
}

// throw ends the command with an error.
func (c *call) throw(f failure) error { return c.Throw(c.record(f)) }

// fail translates a directory error into the error that the command throws. The
// error of a canceled context is returned unchanged.
func (c *call) fail(err error) error {
	var e *directory.Error
	if !errors.As(err, &e) {
		if ctx := c.ctx().Err(); ctx != nil {
			return ctx
		}
		return err
	}
	return c.throw(c.failureOf(e))
}

// failureOf returns the failure that the module reports for a directory error. All but the
// module's own errors contain an exception of the web service's client (facts D14).
func (c *call) failureOf(e *directory.Error) failure {
	message := e.Message(c.h.Culture) + "."
	f := failure{typ: byCode[e.Code], message: message, code: e.Code, server: e.ServerMessage()}
	switch {
	case e.Kind == directory.KindServerDown && e.Code == directory.CodeUnspecified:
		return c.serverDown(e.DN)
	case e.Kind == directory.KindServerDown:
		inner := dotnet.NewException(tException, message)
		inner.Props.Set("ErrorCode", int32(e.Code))
		return failure{typ: "ADServerDownException", message: message, code: e.Code, inner: inner}
	case e.Fault != "":
		f.typ, f.inner = "ADException", newFault(message, e.Fault)
		if reason := faultReasons[e.Fault]; reason != "" {
			f.message = reason
		}
		return f
	case e.Code == directory.CodeUnspecified:
		f.typ = "ADException" // raised by the module, without a fault
		return f
	case e.Code == directory.CodeLogonFailure:
		f.message = c.say("rejected")
	case f.typ == "":
		f.typ = "ADException"
	}
	f.inner = newFault(message, faultOf[e.Code])
	return f
}

// serverDown is the failure for a controller that does not accept connections.
func (c *call) serverDown(host string) failure {
	return failure{
		typ: "ADServerDownException", message: c.say("serverDown"), server: host,
		inner: dotnet.NewException(tNoEndpoint,
			"Could not connect to net.tcp://"+host+":9389/ActiveDirectoryWebServices/Windows/Enumeration."),
	}
}

// rejected is the failure for an account that the controller does not accept.
func (c *call) rejected() failure {
	return failure{
		typ: "System.Security.Authentication.AuthenticationException", message: c.say("rejected"),
		inner: dotnet.NewException(tNegotiation, c.say("rejected")),
	}
}

// notFound is the failure for an -Identity that does not exist (facts D.2).
func (c *call) notFound(identity string) failure {
	return failure{
		typ: "ADIdentityNotFoundException", message: c.say("notFound", identity, c.h.Domain.RootDN()),
	}
}

func (c *call) argument(key, param string, args ...any) error {
	return c.throw(failure{typ: "System.ArgumentException", message: c.say(key, args...), param: param})
}

func (c *call) notSupported(message string) error {
	return c.throw(failure{typ: "System.NotSupportedException", message: message})
}

// invalidArgument throws the error of a parameter's validation attribute.
func (c *call) invalidArgument(param, message string) error {
	category := dotnet.InvalidData
	return c.throw(failure{
		typ:     "System.Management.Automation.ParameterBindingValidationException",
		message: c.say("validate", param, message), id: "ParameterArgumentValidationError", category: &category,
	})
}

// prompt throws the error of a prompt in a non-interactive session (facts A35).
func (c *call) prompt() error {
	category := dotnet.InvalidOperation
	return c.throw(failure{
		typ: "System.Management.Automation.PSInvalidOperationException", message: c.say("prompt"),
		id: "InvalidOperation", category: &category,
	})
}

// isCode reports whether err is a directory error with the code.
func isCode(err error, code int) bool {
	var e *directory.Error
	return errors.As(err, &e) && e.Code == code
}

// canceled reports whether err is the error of an ended context.
func canceled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
