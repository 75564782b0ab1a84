package zones

import "fmt"

// Win32 codes of the DNS service (facts D.3).
const (
	CodeAccessDenied         = 5
	CodeInvalidParameter     = 87
	CodeInvalidName          = 123
	CodeServerUnavailable    = 1722
	CodeServerFailure        = 9002
	CodeRefused              = 9005
	CodeInvalidType          = 9551
	CodeInvalidIPAddress     = 9552
	CodeInvalidNameChar      = 9560
	CodeUnderDelegation      = 9563
	CodeUnderDName           = 9570
	CodeValueTooLarge        = 9567
	CodeNotOnRODC            = 9569
	CodeZoneDoesNotExist     = 9601
	CodeInvalidZoneOperation = 9603
	CodeZoneAlreadyExists    = 9609
	CodeAutozoneExists       = 9610
	CodeInvalidZoneType      = 9611
	CodeSoaDelete            = 9618
	CodeForwarderExists      = 9619
	CodeNeedsMasters         = 9620
	CodeZoneShutdown         = 9621
	CodeNeedsDatafile        = 9651
	CodeInvalidDatafile      = 9652
	CodeRecordDoesNotExist   = 9701
	CodeRecordFormat         = 9702
	CodeNameNotInZone        = 9706
	CodeCNameLoop            = 9707
	CodeNodeIsCName          = 9708
	CodeCNameCollision       = 9709
	CodeDNameCollision       = 9721
	CodeRecordOnlyAtRoot     = 9710
	CodeRecordAlreadyExists  = 9711
	CodeNameDoesNotExist     = 9714
	CodeDsUnavailable        = 9717
	CodeDsZoneAlreadyExists  = 9718
	CodeNoPartition          = 9901
)

// Op is the operation that failed. It selects the message, see messages.txt.
type Op string

// The operations.
const (
	OpConnect          Op = "connect"
	OpGetZone          Op = "get zone"
	OpListZones        Op = "list zones"
	OpCreateZone       Op = "create zone"
	OpRemoveZone       Op = "remove zone"
	OpGetRecord        Op = "get record"
	OpListRecords      Op = "list records"
	OpCreateRecord     Op = "create record"
	OpRemoveRecord     Op = "remove record"
	OpSetRecord        Op = "set record"
	OpSetZone          Op = "set zone"
	OpGetAging         Op = "get aging"
	OpSetAging         Op = "set aging"
	OpGetDelegation    Op = "get delegation"
	OpCreateDelegation Op = "create delegation"
	OpRemoveDelegation Op = "remove delegation"
	OpGetStatistics    Op = "get statistics"
)

// Error is the error of every failed operation. Callers distinguish errors by
// Code.
type Error struct {
	Code   int
	Op     Op
	Server string
	Zone   string
	Name   string // of the record; may be empty
}

// Error returns the code and the English message.
func (e *Error) Error() string { return fmt.Sprintf("WIN32 %d: %s", e.Code, e.Message("en-US")) }
