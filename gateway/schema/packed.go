package schema

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"adgateway/gateway/schema/tsparams"
	"adgateway/ps"
)

// Style determines how records are written.
type Style struct {
	Classic bool             // the classic dialect
	Warn    func(ps.Warning) // receives a warning for each value that could not be shown; nil discards them
	Tags    bool             // each record ends with its entity tag
	Tagged  func(tag string) // receives the entity tag of each record; nil if none is needed
}

// Packed is a single string member that a script emits for several fields.
type Packed struct {
	Member string
	// unpack returns the fields by name, or a warning that explains the failure. Missing fields are
	// null.
	unpack func(text string) (map[string]json.RawMessage, *ps.Warning)
}

// unpack stores the values of packed fields in their slots.
func (s *Selection) unpack(values []json.RawMessage, style Style) error {
	for i, packed := range s.packed {
		value := values[len(s.fields)+i]
		if value == nil {
			return errShape("%s lacks %s", s.Shape.Name, packed.Member)
		}
		if value[0] != '"' {
			return errShape("%s is not text in %s", packed.Member, s.Shape.Name)
		}
		fields, warning := packed.unpack(unquote(value))
		if warning != nil && style.Warn != nil {
			style.Warn(*warning)
		}
		for at, field := range s.fields {
			if field.Packed != packed {
				continue
			}
			values[at] = null
			if unpacked, has := fields[field.Name]; has {
				values[at] = unpacked
			}
		}
	}
	return nil
}

// The fields of Remote Desktop Services.
const (
	rdsProfilePath     = "rdsProfilePath"
	rdsHomeFolderPath  = "rdsHomeFolderPath"
	rdsHomeFolderDrive = "rdsHomeFolderDrive"
	rdsConnectDrive    = "rdsConnectDrive"
	rdsAllowLogon      = "rdsAllowLogon"
)

// userParameters is the attribute that holds these fields. Scripts emit "" if it is absent, and otherwise the
// user's GUID for the warning, a space and the code units in base64.
var userParameters = &Packed{Member: "userParameters", unpack: unpackUserParameters}

func unpackUserParameters(text string) (map[string]json.RawMessage, *ps.Warning) {
	if text == "" {
		return noUserParameters, nil
	}
	guid, encoded, _ := strings.Cut(text, " ")
	raw, err := base64.StdEncoding.DecodeString(encoded)
	settings, decodeErr := tsparams.Decode(raw)
	if err != nil || decodeErr != nil {
		return nil, &ps.Warning{Code: "rds_unreadable", Target: guid,
			Message: "The Remote Desktop settings of this user are stored in a form that cannot be read; their " +
				"fields are null."}
	}
	return rdsFields(settings), nil
}

// noUserParameters holds the fields of users without the attribute, who are the majority.
var noUserParameters = rdsFields(tsparams.Settings{AllowLogon: true})

func rdsFields(settings tsparams.Settings) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	for name, value := range map[string]any{
		rdsProfilePath:     settings.ProfilePath,
		rdsHomeFolderPath:  settings.HomeFolderPath,
		rdsHomeFolderDrive: settings.HomeFolderDrive,
		rdsConnectDrive:    settings.ConnectDrive,
		rdsAllowLogon:      settings.AllowLogon,
	} {
		fields[name], _ = json.Marshal(value) // only strings and booleans
	}
	return fields
}
