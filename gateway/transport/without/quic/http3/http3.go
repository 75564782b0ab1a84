// Package http3 stands in for the server that gin refers to. The gateway does not serve HTTP/3.
package http3

import (
	"errors"
	"net/http"
)

// ListenAndServeQUIC fails.
func ListenAndServeQUIC(_, _, _ string, _ http.Handler) error {
	return errors.New("HTTP/3 is not built in")
}
