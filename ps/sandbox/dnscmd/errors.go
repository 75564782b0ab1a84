package dnscmd

import (
	"errors"
	"strconv"

	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/ps/sandbox/zones"
)

// categories maps codes to error categories (facts D.3). All other codes are NotSpecified.
var categories = map[int]dotnet.Category{
	zones.CodeAccessDenied:        dotnet.PermissionDenied,
	zones.CodeInvalidParameter:    dotnet.InvalidArgument,
	zones.CodeInvalidName:         dotnet.InvalidArgument,
	zones.CodeInvalidNameChar:     dotnet.InvalidArgument,
	zones.CodeZoneDoesNotExist:    dotnet.ObjectNotFound,
	zones.CodeRecordDoesNotExist:  dotnet.ObjectNotFound,
	zones.CodeNameDoesNotExist:    dotnet.ObjectNotFound,
	zones.CodeZoneAlreadyExists:   dotnet.ResourceExists,
	zones.CodeRecordAlreadyExists: dotnet.ResourceExists,
	zones.CodeDsZoneAlreadyExists: dotnet.ResourceExists,
}

// native maps categories to CIM status codes. All other categories are Failed.
var native = map[dotnet.Category]string{
	dotnet.PermissionDenied: "AccessDenied",
	dotnet.InvalidArgument:  "InvalidParameter",
	dotnet.ObjectNotFound:   "NotFound",
	dotnet.ResourceExists:   "AlreadyExists",
}

// fail writes a DNS error as a non-terminating error. Any other error is a defect and is returned unchanged.
func (c *call) fail(err error) error {
	var e *zones.Error
	if !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Server = c.host
	target := named.Name
	if target == "" {
		target = named.Zone
	}
	if target == "" {
		target = c.host
	}
	return c.WriteError(c.record(named.Code, named.Message(c.o.Culture), target))
}

// failCode writes an error that the cmdlet itself detects.
func (c *call) failCode(code int, op zones.Op, zone, name string) error {
	return c.fail(&zones.Error{Code: code, Op: op, Zone: zone, Name: name})
}

// record returns the error record of a code (facts D11).
func (c *call) record(code int, message, target string) *dotnet.ErrorRecord {
	id := "WIN32 " + strconv.Itoa(code)
	category := categories[code]
	status := native[category]
	if status == "" {
		status = "Failed"
	}
	e := dotnet.NewException(tCimException, message)
	e.Props.Set("NativeErrorCode", dotnet.EnumOf(tNative, status))
	e.Props.Set("MessageId", id)
	e.Props.Set("StatusCode", uint32(code))
	e.Props.Set("ErrorSource", nil)
	e.Props.Set("ErrorType", uint16(0))
	e.Props.Set("ErrorData", nil)
	return dotnet.NewError(e, id, category, &dotnet.Instance{Type: c.targetType, Text: target})
}

// notSupported throws the error of a parameter that the sandbox does not
// simulate.
func notSupported(c *engine.Call, name string) error {
	e := dotnet.ExceptionNamed("System.NotSupportedException", "The sandbox does not support -%s of %s.", name,
		c.Name())
	return c.Throw(dotnet.NewError(e, "ParameterNotSupported", dotnet.NotImplemented, name))
}
