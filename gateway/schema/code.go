package schema

import "net/http"

// Code is one of the API's error codes.
type Code string

// The error codes (API 3).
const (
	Partial              Code = "partial"
	InvalidRequest       Code = "invalid_request"
	Unauthenticated      Code = "unauthenticated"
	Forbidden            Code = "forbidden"
	Limit                Code = "limit"
	DirectoryDenied      Code = "directory_denied"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	TooLarge             Code = "too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	RateLimited          Code = "rate_limited"
	Conflict             Code = "conflict"
	Protected            Code = "protected"
	NotEmpty             Code = "not_empty"
	Ambiguous            Code = "ambiguous"
	TooMany              Code = "too_many"
	Policy               Code = "policy"
	Unprocessable        Code = "unprocessable"
	Internal             Code = "internal"
	Backend              Code = "backend"
	Overloaded           Code = "overloaded"
	Unavailable          Code = "unavailable"
	Timeout              Code = "timeout"
)

var statuses = map[Code]int{
	Partial:              http.StatusMultiStatus,
	InvalidRequest:       http.StatusBadRequest,
	Unauthenticated:      http.StatusUnauthorized,
	Forbidden:            http.StatusForbidden,
	Limit:                http.StatusForbidden,
	DirectoryDenied:      http.StatusForbidden,
	NotFound:             http.StatusNotFound,
	MethodNotAllowed:     http.StatusMethodNotAllowed,
	TooLarge:             http.StatusRequestEntityTooLarge,
	UnsupportedMediaType: http.StatusUnsupportedMediaType,
	RateLimited:          http.StatusTooManyRequests,
	Conflict:             http.StatusConflict,
	Protected:            http.StatusConflict,
	NotEmpty:             http.StatusConflict,
	Ambiguous:            http.StatusConflict,
	TooMany:              http.StatusConflict,
	Policy:               http.StatusUnprocessableEntity,
	Unprocessable:        http.StatusUnprocessableEntity,
	Internal:             http.StatusInternalServerError,
	Backend:              http.StatusBadGateway,
	Overloaded:           http.StatusServiceUnavailable,
	Unavailable:          http.StatusServiceUnavailable,
	Timeout:              http.StatusGatewayTimeout,
}

// Status is the HTTP status of the code; of no code of the API it is 0.
func (c Code) Status() int { return statuses[c] }

// Problem is one thing wrong with a request.
type Problem struct {
	Field   string // the parameter as listed; empty: the request as a whole
	Message string // continues the field's name, or is a sentence of its own; never holds the value
	Code    Code
}
