package schema

import (
	"net/http"
	"strings"
)

// Code is one of the API's error codes.
type Code string

// The error codes.
const (
	Partial              Code = "partial"
	InvalidRequest       Code = "invalid_request"
	Unauthenticated      Code = "unauthenticated"
	Forbidden            Code = "forbidden"
	Limit                Code = "limit"
	DirectoryDenied      Code = "directory_denied"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	NotAcceptable        Code = "not_acceptable"
	NotSupported         Code = "not_supported"
	TokenMismatch        Code = "token_mismatch"
	InProgress           Code = "in_progress"
	OutcomeUnknown       Code = "outcome_unknown"
	NamePending          Code = "name_pending"
	KeyReused            Code = "key_reused"
	Drifted              Code = "drifted"
	PreconditionFailed   Code = "precondition_failed"
	PreconditionRequired Code = "precondition_required"
	PlanUsed             Code = "plan_used"
	PlanMismatch         Code = "plan_mismatch"
	Expired              Code = "expired"
	CursorExpired        Code = "cursor_expired"
	JobState             Code = "job_state"
	JobTooLarge          Code = "job_too_large"
	Poison               Code = "poison"
	ParentDeleted        Code = "parent_deleted"
	NotUndoable          Code = "not_undoable"
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
	StoreLost            Code = "store_lost"
	StoreRewound         Code = "store_rewound"
	NewerPeer            Code = "newer_peer"
	NotLeader            Code = "not_leader"
	Behind               Code = "behind"
	Starting             Code = "starting"
	Timeout              Code = "timeout"
)

// codes lists the codes in documentation order.
var codes = []struct {
	code   Code
	status int
	doc    string
}{
	{Partial, http.StatusMultiStatus, "Some of the objects were done, others were not."},
	{InvalidRequest, http.StatusBadRequest, "A parameter is missing, unknown, malformed, or contradicts another."},
	{NotSupported, http.StatusBadRequest, "The call cannot honour a header or mode of the request."},
	{TokenMismatch, http.StatusBadRequest, "The cursor in After belongs to another question."},
	{Unauthenticated, http.StatusUnauthorized, "There is no valid credential."},
	{Forbidden, http.StatusForbidden, "The credential lacks a scope."},
	{Limit, http.StatusForbidden, "The object lies outside the limits of the credential."},
	{DirectoryDenied, http.StatusForbidden, "The directory denies it to the gateway's own account."},
	{NotFound, http.StatusNotFound, "The object does not exist, or is of another class."},
	{MethodNotAllowed, http.StatusMethodNotAllowed, "The path has no such method."},
	{NotAcceptable, http.StatusNotAcceptable, "The client does not take what the route answers with."},
	{TooLarge, http.StatusRequestEntityTooLarge, "The body is too large."},
	{JobTooLarge, http.StatusRequestEntityTooLarge, "The list has more items, or more bytes, than a job may have."},
	{UnsupportedMediaType, http.StatusUnsupportedMediaType, "The body is neither JSON nor a form."},
	{RateLimited, http.StatusTooManyRequests, "Too many calls; see Retry-After."},
	{Conflict, http.StatusConflict, "The name is taken, or the object is in a state that does not allow it."},
	{Protected, http.StatusConflict, "The object is protected from accidental deletion, or critical."},
	{NotEmpty, http.StatusConflict, "Other objects lie below it, or a zone has records, or would hide those of another."},
	{OutcomeUnknown, http.StatusConflict, "An earlier call with this Idempotency-Key was cut off, and the outcome of its change cannot be determined."},
	{NamePending, http.StatusConflict, "The name was given on another domain controller not long ago, of which this one may not know yet; see Retry-After."},
	{Ambiguous, http.StatusConflict, "Several objects match."},
	{TooMany, http.StatusConflict, "More objects match than one request may remove."},
	{JobState, http.StatusConflict, "The job is not in a state for the call."},
	{Poison, http.StatusConflict, "The call was cut off each time it was made, so it is not made again."},
	{PlanUsed, http.StatusConflict, "The plan was applied already, or the change was undone already."},
	{ParentDeleted, http.StatusConflict, "Where the deleted object lay is deleted, too."},
	{Drifted, http.StatusPreconditionFailed, "What was to be changed has been changed meanwhile."},
	{PreconditionFailed, http.StatusPreconditionFailed, "The object is not in the state that If-Match names, or is there although If-None-Match excludes it."},
	{PreconditionRequired, http.StatusPreconditionRequired, "The call must have If-Match or a plan, because otherwise it might undo a change of others."},
	{NotUndoable, http.StatusUnprocessableEntity, "The change cannot be undone, or not all of it."},
	{Expired, http.StatusGone, "The plan is too old to be applied."},
	{CursorExpired, http.StatusGone, "What follows the cursor is not kept any more, or the store is another one."},
	{PlanMismatch, http.StatusUnprocessableEntity, "The plan belongs to another call."},
	{KeyReused, http.StatusUnprocessableEntity, "The Idempotency-Key belongs to another call."},
	{Policy, http.StatusUnprocessableEntity, "The password policy does not allow it."},
	{Unprocessable, http.StatusUnprocessableEntity, "The directory or the DNS server does not take the value."},
	{Internal, http.StatusInternalServerError, "The gateway failed; its log has the details under the request id."},
	{Backend, http.StatusBadGateway, "The directory or the DNS server failed."},
	{Overloaded, http.StatusServiceUnavailable, "The gateway is busy; see Retry-After."},
	{Unavailable, http.StatusServiceUnavailable, "No PowerShell session can be started, or no server that could answer be reached; see Retry-After and GET /readyz."},
	{InProgress, http.StatusServiceUnavailable, "A call with this Idempotency-Key, or the change, is still running or being settled; see Retry-After."},
	{StoreLost, http.StatusServiceUnavailable, "The store of the cluster cannot be written at the moment, so nothing was changed; see Retry-After."},
	{StoreRewound, http.StatusServiceUnavailable, "The nodes of the cluster have lost a part of the log that they had stored, so nothing is changed until an administrator has run 'adgateway cluster recover'."},
	{NewerPeer, http.StatusServiceUnavailable, "A later version of the gateway has written what the call needs, in a format that this one cannot read; nothing was changed."},
	{NotLeader, http.StatusServiceUnavailable, "No gateway of the cluster leads at the moment, as happens for some seconds when the one that led is lost; nothing was begun: repeat the call after Retry-After."},
	{Behind, http.StatusServiceUnavailable, "The copy of the gateway that was asked lacks what the call needs, and it catches up; nothing was begun: repeat the call after Retry-After. As a warning: the answer may lack the last changes."},
	{Starting, http.StatusServiceUnavailable, "The gateway has not read what it keeps yet; nothing was begun: repeat the call after Retry-After."},
	{Timeout, http.StatusGatewayTimeout, "The work was not finished in time."},
}

var codeIndex = func() map[Code]int {
	index := map[Code]int{}
	for i, row := range codes {
		index[row.code] = i
	}
	return index
}()

// Codes returns all codes of the API in documentation order.
func Codes() []Code {
	all := make([]Code, len(codes))
	for i, row := range codes {
		all[i] = row.code
	}
	return all
}

// Status returns the HTTP status of the code, or 0 if it is not a code of the API.
func (c Code) Status() int {
	if i, known := codeIndex[c]; known {
		return codes[i].status
	}
	return 0
}

// Waits reports whether an answer with the code has a Retry-After header.
func (c Code) Waits() bool {
	return c.Status() == http.StatusServiceUnavailable || strings.Contains(c.Doc(), "Retry-After")
}

// Doc describes the code in a sentence. It is "" if it is not a code of the API.
func (c Code) Doc() string {
	if i, known := codeIndex[c]; known {
		return codes[i].doc
	}
	return ""
}

// FieldError is one fault of a request.
type FieldError struct {
	Field   string // documented name of the parameter; empty for the request as a whole
	Message string // continues the field's name, or is a sentence if Field is empty; never contains the value
	Code    Code
}
