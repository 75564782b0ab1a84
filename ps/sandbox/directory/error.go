package directory

import (
	"errors"
	"fmt"
	"strings"
)

// Kind classifies errors by what a caller can do about them. The Win32 code is
// more specific and authoritative.
type Kind uint8

// Kinds of errors.
const (
	KindOther       Kind = iota
	KindNotFound         // the object, or an object that it refers to, does not exist
	KindNoParent         // the container of an add or move does not exist
	KindExists           // a name, account, UPN or object already exists
	KindDenied           // access is denied
	KindNotEmpty         // the object has children
	KindProtected        // a critical or built-in object
	KindPolicy           // the password violates the policy
	KindBadPassword      // the old password is wrong
	KindNesting          // the group cannot have the member
	KindMember           // the object is already, or not, a member
	KindConstraint       // a value or combination violates the schema
	KindSyntax           // a malformed DN, filter or value
	KindUnwilling        // the server is unwilling to perform the operation
	KindReferral         // the name belongs to another domain
	KindServerDown       // the DC does not exist or is switched off
	KindBusy             // a limit of the server (connections, RIDs)
	KindLogon            // the logon is refused
)

// Win32 codes of the directory (facts D.1, D.2).
const (
	CodeUnspecified         = 0
	CodeAccessDenied        = 5
	CodeInvalidPassword     = 86
	CodeInvalidParameter    = 87
	CodeDirectoryNotFound   = 1355 // no DC of the domain can be found
	CodeBadAccountName      = 1315
	CodeAccountExists       = 1316
	CodeGroupExists         = 1318
	CodePasswordRestriction = 1325
	CodeLogonFailure        = 1326
	CodePasswordExpired     = 1330
	CodeAccountDisabled     = 1331
	CodeSpecialAccount      = 1371
	CodePrimaryGroup        = 1374
	CodeNotMember           = 1377
	CodeAlreadyMember       = 1378
	CodeAccountExpired      = 1793
	CodePasswordMustChange  = 1907
	CodeAccountLockedOut    = 1909
	CodeObjectExists        = 5010
	CodeNoSuchAttribute     = 8202
	CodeNoRIDs              = 8208
	CodeClassViolation      = 8212
	CodeNonLeaf             = 8213
	CodeOnRDN               = 8214
	CodeModifyClass         = 8215
	CodeReferral            = 8235
	CodeInappropriateMatch  = 8238
	CodeConstraint          = 8239
	CodeNoSuchObject        = 8240
	CodeInvalidDN           = 8242
	CodeUnwilling           = 8245
	CodeNaming              = 8247
	CodeFilterUnknown       = 8254
	CodeNameExists          = 8305
	CodeNotOnObject         = 8310
	CodeIllegalModify       = 8311
	CodeClassRequired       = 8315
	CodeMissingRequired     = 8316
	CodeNotDefinedForClass  = 8317
	CodeSingleValue         = 8321
	CodeRange               = 8322
	CodeValueExists         = 8323
	CodeMissingAttribute    = 8324
	CodeMissingValue        = 8325
	CodeNoParent            = 8329
	CodeNotFound            = 8333
	CodeBadNameSyntax       = 8335
	CodeInsufficientRights  = 8344
	CodeIllegalSuperior     = 8345
	CodeOwnedBySAM          = 8346
	CodeNameTypeUnknown     = 8351
	CodeCannotDelete        = 8398
	CodeInvalidGroupType    = 8513
	CodeGlobalNoLocal       = 8516
	CodeGlobalNoUniversal   = 8517
	CodeUniversalNoLocal    = 8518
	CodeGlobalNoCrossDomain = 8519
	CodeLocalNoCrossLocal   = 8520
	CodePrimaryMembers      = 8521
	CodeFSPInUniversal      = 8549
	CodeCriticalObject      = 8560
	CodeNotOnReadOnlyDC     = 8595
	CodeSPNExists           = 8647
	CodeUPNExists           = 8648
)

// Error is the error of every failed operation. A failed operation has changed
// nothing, unless documented otherwise.
type Error struct {
	// Code is the Win32 code, which ADWS passes on (facts D2).
	Code int
	Kind Kind
	// Op is the operation: "search", "add", "modify", "rename", "move",
	// "delete", "restore", "password", "protect", "connect", "logon".
	Op string
	// DN identifies the object concerned, if it is known.
	DN string
	// Attribute and Value caused the error, if any.
	Attribute string
	Value     string
	// BestMatch is the nearest existing ancestor of a missing object.
	BestMatch string
	// Fault is the subcode of the web service's fault, for an error without a code:
	// EndpointUnavailable, UnwillingToPerform (facts D14).
	Fault string
	// Detail describes the violated rule in English, for logs and tests.
	Detail string
}

// Error returns an English message on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("directory: ")
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(strings.TrimRight(e.Message("en-US"), "\r\n"))
	fmt.Fprintf(&b, " (%d)", e.Code)
	if e.DN != "" {
		b.WriteString(" at " + e.DN)
	}
	if e.Attribute != "" {
		b.WriteString(", attribute " + e.Attribute)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	return b.String()
}

// Is compares the codes of two errors, and also their kinds if target has a kind.
func (e *Error) Is(target error) bool {
	var t *Error
	if !errors.As(target, &t) {
		return false
	}
	return t.Code == e.Code && (t.Kind == KindOther || t.Kind == e.Kind)
}

// ServerMessage returns the raw message of the domain controller, which is in English and
// starts with the code in hexadecimal (facts D2).
func (e *Error) ServerMessage() string {
	l := codes()[e.Code]
	if l.class == "" {
		return ""
	}
	msg := fmt.Sprintf("%08X: %s: DSID-%08X, problem %s (%s), data 0", e.Code, l.class, 0x03100000+e.Code,
		l.problem, l.name)
	switch l.class {
	case "NameErr":
		msg += fmt.Sprintf(", best match of:\n\t'%s'\n", e.BestMatch)
	case "AtrErr":
		msg += fmt.Sprintf(", Att 0 (%s)", e.Attribute)
	}
	return msg
}

func fail(code int, kind Kind, dn, detail string, args ...any) *Error {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return &Error{Code: code, Kind: kind, DN: dn, Detail: detail}
}

// failAttr is like fail, with the attribute that caused the error.
func failAttr(code int, kind Kind, dn, attr, detail string, args ...any) *Error {
	e := fail(code, kind, dn, detail, args...)
	e.Attribute = attr
	return e
}
