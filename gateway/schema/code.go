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
	{Partial, http.StatusMultiStatus, "Some of the objects were changed, others were not."},
	{InvalidRequest, http.StatusBadRequest, "A parameter is missing, unknown, malformed, or contradicts another."},
	{NotSupported, http.StatusBadRequest, "The operation does not support a header or mode of the request."},
	{TokenMismatch, http.StatusBadRequest, "The cursor in After belongs to a different query."},
	{Unauthenticated, http.StatusUnauthorized, "The request has no valid credential."},
	{Forbidden, http.StatusForbidden, "The credential lacks a required scope."},
	{Limit, http.StatusForbidden, "The object is outside the limits of the credential."},
	{DirectoryDenied, http.StatusForbidden, "The directory denies access to the service account."},
	{NotFound, http.StatusNotFound, "The object does not exist or belongs to a different class."},
	{MethodNotAllowed, http.StatusMethodNotAllowed, "The path does not support this method."},
	{NotAcceptable, http.StatusNotAcceptable, "The client does not accept the content type of the answer."},
	{TooLarge, http.StatusRequestEntityTooLarge, "The body is too large."},
	{JobTooLarge, http.StatusRequestEntityTooLarge, "The list has more items or bytes than a job may have."},
	{UnsupportedMediaType, http.StatusUnsupportedMediaType, "The body is neither JSON nor a form."},
	{RateLimited, http.StatusTooManyRequests, "Too many requests; see Retry-After."},
	{Conflict, http.StatusConflict, "The name is taken, or the state of the object does not allow the change."},
	{Protected, http.StatusConflict, "The object is protected from accidental deletion or is critical to the system."},
	{NotEmpty, http.StatusConflict, "The object has child objects, or the zone has records or would hide records of another zone."},
	{OutcomeUnknown, http.StatusConflict, "An earlier call with this Idempotency-Key was interrupted, and the outcome of its change cannot be determined."},
	{NamePending, http.StatusConflict, "The name was recently assigned on another domain controller and may not have replicated yet; see Retry-After."},
	{Ambiguous, http.StatusConflict, "Several objects match."},
	{TooMany, http.StatusConflict, "More objects match than one request may remove."},
	{JobState, http.StatusConflict, "The state of the job does not allow the call."},
	{Poison, http.StatusConflict, "The call was interrupted each time it was made and is not repeated."},
	{PlanUsed, http.StatusConflict, "The plan has already been applied, or the change has already been undone."},
	{ParentDeleted, http.StatusConflict, "The former parent of the deleted object is also deleted."},
	{Drifted, http.StatusPreconditionFailed, "The object has changed in the meantime."},
	{PreconditionFailed, http.StatusPreconditionFailed, "The object does not have the state that If-Match requires, or it exists although If-None-Match excludes it."},
	{PreconditionRequired, http.StatusPreconditionRequired, "The call requires If-Match or a plan, because it might otherwise overwrite someone else's change."},
	{NotUndoable, http.StatusUnprocessableEntity, "The change cannot be undone, or only in part."},
	{Expired, http.StatusGone, "The plan has expired."},
	{CursorExpired, http.StatusGone, "The entries after the cursor are no longer kept, or the cursor belongs to a different store."},
	{PlanMismatch, http.StatusUnprocessableEntity, "The plan belongs to a different call."},
	{KeyReused, http.StatusUnprocessableEntity, "The Idempotency-Key belongs to a different call."},
	{Policy, http.StatusUnprocessableEntity, "The password policy does not allow the change."},
	{Unprocessable, http.StatusUnprocessableEntity, "The directory or the DNS server rejects the value."},
	{Internal, http.StatusInternalServerError, "The gateway failed; its log contains the details under the request ID."},
	{Backend, http.StatusBadGateway, "The directory or the DNS server failed."},
	{Overloaded, http.StatusServiceUnavailable, "The gateway is busy; see Retry-After."},
	{Unavailable, http.StatusServiceUnavailable, "No PowerShell session can be started, or no server can be reached; see Retry-After and GET /readyz."},
	{InProgress, http.StatusServiceUnavailable, "The change, or a call with this Idempotency-Key, is still running, or its outcome is still being determined; see Retry-After."},
	{StoreLost, http.StatusServiceUnavailable, "The store of the cluster cannot currently be written, so nothing was changed; see Retry-After."},
	{StoreRewound, http.StatusServiceUnavailable, "The nodes of the cluster lost part of the stored log. The gateway makes no changes until an administrator runs 'adgateway cluster recover'."},
	{NewerPeer, http.StatusServiceUnavailable, "A later version of the gateway wrote the required data in a format that this version cannot read; nothing was changed."},
	{NotLeader, http.StatusServiceUnavailable, "The cluster currently has no leader, usually for a few seconds after it lost one. The call was not begun; repeat it after Retry-After."},
	{Behind, http.StatusServiceUnavailable, "The copy of the data on this gateway is not yet complete. The call was not begun; repeat it after Retry-After. As a warning, it means that the answer may lack the latest changes."},
	{Starting, http.StatusServiceUnavailable, "The gateway is still loading its stored data. The call was not begun; repeat it after Retry-After."},
	{Timeout, http.StatusGatewayTimeout, "The call did not finish in time."},
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
