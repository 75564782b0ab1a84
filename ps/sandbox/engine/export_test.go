package engine

import "adgateway/ps/sandbox/engine/dotnet"

// Errors returns the records of $Error, newest first.
func (s *Session) Errors() []*dotnet.ErrorRecord {
	var out []*dotnet.ErrorRecord
	for _, item := range s.errorList.Items {
		if rec, ok := item.(*dotnet.ErrorRecord); ok {
			out = append(out, rec)
		}
	}
	return out
}

// SetFunction defines a global function from a script's text, as
// Set-Item function:global:NAME does.
func (s *Session) SetFunction(name, text string) error {
	code, err := s.engine.compile("", text)
	if err != nil {
		return err
	}
	s.defineFunction(s.global, "global", &function{name: name, code: code.underName(name)})
	return nil
}

// Variable returns a global variable.
func (s *Session) Variable(name string) (any, bool) {
	if v := s.global.own(intern(name)); v != nil {
		return v.value, true
	}
	return nil, false
}
