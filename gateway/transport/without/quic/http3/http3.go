// Package http3 replaces the server that gin imports. The gateway does not serve HTTP/3.
package http3

import (
	"errors"
	"net/http"
)

// ListenAndServeQUIC returns an error.
func ListenAndServeQUIC(_, _, _ string, _ http.Handler) error {
	return errors.New("HTTP/3 is not built in")
}
