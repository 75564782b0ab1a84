package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/identity"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
)

// accounts reads the accounts of people who sign in, by calling operations of the API.
type accounts struct{ calls caller }

// caller calls operations.
type caller interface {
	Call(ctx context.Context, operation string, c call.Call) (call.Answer, error)
}

// account is an account as the API returns it.
type account struct {
	SamUsername, SID string
	Enabled          bool
	AccountExpires   *time.Time
	LockedOut        bool // always false unless byName read the account
}

const accountFields = "samUsername,sid,enabled,accountExpires"

// read reads a record. If there is none, found is false.
func (a accounts) read(
	ctx context.Context, operation string, values call.Values, record any,
) (found bool, err error) {
	var all []json.RawMessage
	if err := a.send(ctx, operation, values, &all); err != nil || len(all) != 1 {
		return false, err
	}
	return true, json.Unmarshal(all[0], record)
}

// list reads into found the accounts that match a filter.
func (a accounts) list(ctx context.Context, filter string, found *[]account) error {
	*found = nil
	return a.send(ctx, "user.listAll", call.Values{ops.ShowFields: accountFields, "Filter": filter}, found)
}

// send calls an operation and reads the records of its answer. It returns no records if the object does not
// exist. The error does not contain the name: people sometimes type a password there.
func (a accounts) send(ctx context.Context, operation string, values call.Values, records any) error {
	reader := &identity.Principal{Name: "sign-in", Kind: identity.KindGateway,
		Scopes:  []identity.Scope{identity.UserRead},
		Dialect: identity.Standard, Uncounted: true}
	answer, err := a.calls.Call(ctx, operation, call.Call{Principal: reader, Input: values})
	if err == nil {
		return json.Unmarshal(slices.Concat([]byte("["), answer.Records, []byte("]")), records)
	}
	switch status := problem.Of(err).Code.Status(); status {
	case http.StatusNotFound, http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
		return nil // no account has this name
	default:
		return fmt.Errorf("an account is read: status %d", status)
	}
}

// byName returns the account with a sAMAccountName.
func (a accounts) byName(ctx context.Context, name string) (found account, ok bool, err error) {
	values := call.Values{"Username": name, ops.ShowFields: accountFields + ",lockedOut"}
	ok, err = a.read(ctx, "user.get", values, &found)
	return found, ok, err
}

// named returns the account for a sign-in name: a sAMAccountName, a UPN, or sAMAccountName@domain with the
// DNS or NetBIOS name of the domain. The domain itself is ignored, so an account of another domain counts as
// the one with its sAMAccountName in this domain. It calls the list operation, because the log line of that
// operation contains no name if the account does not exist.
func (a accounts) named(ctx context.Context, name string) (found account, ok bool, err error) {
	before, _, upn := strings.Cut(name, "@")
	filter, err := comparison("samUsername", before)
	if err != nil {
		return account{}, false, err
	}
	byUPN := ""
	if upn {
		if byUPN, err = comparison("userPrincipalName", name); err != nil {
			return account{}, false, err
		}
		filter = byUPN + " or " + filter
	}
	var all []account
	if err = a.list(ctx, filter, &all); err == nil && len(all) > 1 && upn {
		err = a.list(ctx, byUPN, &all) // an account with this UPN takes precedence
	}
	if err != nil || len(all) == 0 {
		return account{}, false, err
	}
	return all[0], true, nil
}

// comparison returns the term of a filter that compares a field.
func comparison(field, text string) (string, error) {
	quoted, err := json.Marshal(text)
	return field + " eq " + string(quoted), err
}

const (
	// inEveryDomain is an account that exists in every domain.
	// Its lockout policy is used for names without an account.
	inEveryDomain = "krbtgt"
	// lowThreshold is used if the policy cannot be read. Few domains lock out after fewer attempts.
	lowThreshold = 3
)

// lockoutPolicy implements the Policy of a gate. It reads the policy that locks an account out. For a name
// without an account it reads the policy of an account that always exists, so that both cases take equally
// long.
func (a accounts) lockoutPolicy(ctx context.Context, name string) (signin.Policy, error) {
	found, ok, err := a.named(ctx, name)
	if err != nil {
		return signin.Policy{}, err
	}
	account := found.SamUsername
	if !ok {
		account = inEveryDomain
	}
	var policy struct {
		LockoutThreshold *int // null: the policy of this account cannot be read
		LockoutWindow    int
	}
	read, err := a.read(ctx, "user.passwordPolicy", call.Values{"Username": account}, &policy)
	if err == nil && ok && !read {
		err = errors.New("an account is gone whose policy is read")
	}
	threshold := lowThreshold
	if policy.LockoutThreshold != nil {
		threshold = *policy.LockoutThreshold
	}
	window := time.Duration(policy.LockoutWindow) * time.Minute
	return signin.Policy{
		SID: found.SID, Account: found.SamUsername, Threshold: threshold, Window: window,
	}, err
}

// enabledDirectory is a directory that does not know whether an account may still log on.
type enabledDirectory struct {
	signin.Directory
	accounts
}

// Groups implements [signin.Directory]. If the API does not find an account, the account belongs to another
// domain, and only the directory decides whether it may sign in.
func (d enabledDirectory) Groups(ctx context.Context, sid string) (*signin.Person, error) {
	person, err := d.Directory.Groups(ctx, sid)
	if err != nil {
		return nil, err
	}
	found, ok, err := d.byName(ctx, person.Name)
	switch {
	case err != nil:
		return nil, err
	case ok && found.SID == sid &&
		(!found.Enabled || found.AccountExpires != nil && !time.Now().Before(*found.AccountExpires)):
		return nil, signin.ErrRefused
	case ok && found.SID == sid && found.LockedOut:
		locked := *person
		locked.Locked = true
		return &locked, nil
	}
	return person, nil
}
