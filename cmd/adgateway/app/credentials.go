package app

import (
	"errors"
	"fmt"
	"strings"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
)

// ParseToken parses the value of --token, VALUE[=scope,...].
func ParseToken(text string) (config.Token, error) {
	value, scopes, err := splitScopes("token", text)
	if err != nil {
		return config.Token{}, err
	}
	return config.Token{Value: value, Scopes: scopes}, nil
}

// ParseUser parses the value of --user, NAME:PASSWORD[=scope,...].
func ParseUser(text string) (config.User, error) {
	credential, scopes, err := splitScopes("user", text)
	if err != nil {
		return config.User{}, err
	}
	name, password, ok := strings.Cut(credential, ":")
	if !ok {
		return config.User{}, errors.New("--user takes NAME:PASSWORD[=scope,...]")
	}
	return config.User{Name: name, Password: password, Scopes: scopes}, nil
}

// splitScopes splits "VALUE=scope,scope" at the last '='. A value may end in '=', as
// base64 does. Any other text after the last '=' must be scopes. A misspelled scope is
// therefore an error, instead of becoming part of a value that grants all scopes.
func splitScopes(flag, text string) (value string, scopes []string, err error) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 || at == len(text)-1 {
		return text, nil, nil
	}
	scopes = strings.Split(text[at+1:], ",")
	if _, err := identity.ParseScopes(scopes); err != nil { // not wrapped, because its text may contain a secret
		return "", nil, fmt.Errorf("--%s: not everything after the last '=' is a scope%s; a value that contains "+
			"'=' needs explicit scopes, such as VALUE=*",
			flag, program.DidYouMean(scopes[len(scopes)-1], "", scopeNames()))
	}
	return text[:at], scopes, nil
}

func scopeNames() []string {
	var names []string
	for _, scope := range identity.Scopes() {
		names = append(names, string(scope))
	}
	return names
}
