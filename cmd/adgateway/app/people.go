package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adgateway/gateway/authn/signin"
	"adgateway/gateway/identity"
	"adgateway/gateway/inprocess"
)

// accounts reads, through the API, the accounts of people who sign in.
type accounts struct{ api http.Handler }

// account is what the API says of an account.
type account struct {
	SamUsername, SID string
	Enabled          bool
	AccountExpires   *time.Time
}

const accountFields = "samUsername,sid,enabled,accountExpires"

// read reads a record. If there is none, found is false.
func (a accounts) read(ctx context.Context, path string, query url.Values, record any) (found bool, err error) {
	var all []json.RawMessage
	if err := a.send(ctx, path, query, &all); err != nil || len(all) != 1 {
		return false, err
	}
	return true, json.Unmarshal(all[0], record)
}

// list reads the accounts that match a filter.
func (a accounts) list(ctx context.Context, filter string, found *[]account) error {
	*found = nil
	query := url.Values{"ShowFields": {accountFields}, "Filter": {filter}}
	return a.send(ctx, "/api/ADUser/ListUsers/All", query, found)
}

// send reads the records of an answer; none if there is no such object. The error does not say
// what was asked for: people type what they should not.
func (a accounts) send(ctx context.Context, path string, query url.Values, records any) error {
	reader := &identity.Principal{Name: "sign-in", Kind: identity.KindGateway, Scopes: []identity.Scope{identity.UserRead},
		Dialect: identity.Standard, Uncounted: true}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, path+"?"+query.Encode(), nil)
	if err != nil {
		return errors.New("an account is read: its name has no valid form")
	}
	taken := inprocess.Send(a.api, inprocess.As(r, reader))
	switch taken.Status {
	case http.StatusNotFound, http.StatusBadRequest, http.StatusConflict, http.StatusUnprocessableEntity:
		return nil // no account has such a name
	case http.StatusOK:
		return json.Unmarshal(taken.Body, &struct{ Result any }{records})
	}
	return fmt.Errorf("an account is read: status %d", taken.Status)
}

// byName returns the account with a sAMAccountName.
func (a accounts) byName(ctx context.Context, name string) (found account, ok bool, err error) {
	ok, err = a.read(ctx, "/api/ADUser/"+url.PathEscape(name)+"/Details", url.Values{"ShowFields": {accountFields}}, &found)
	return found, ok, err
}

// named returns the account whose password is tried under a name: a sAMAccountName, a UPN,
// or what every account has besides, sAMAccountName@domain, with the DNS name of the domain
// or its NetBIOS name. An account of another domain counts as the one of this domain that
// has its sAMAccountName. A list is read, whose log line has no name if there is none.
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
		err = a.list(ctx, byUPN, &all) // before the account that has the rest of it
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

// lockoutPolicy reads the policy that locks an account out: the Policy of a gate.
func (a accounts) lockoutPolicy(ctx context.Context, name string) (signin.Policy, error) {
	found, ok, err := a.named(ctx, name)
	if err != nil || !ok {
		return signin.Policy{}, err
	}
	var policy struct{ LockoutThreshold, LockoutWindow int }
	path := "/api/ADUser/" + url.PathEscape(found.SamUsername) + "/PasswordPolicy"
	if ok, err = a.read(ctx, path, nil, &policy); err == nil && !ok {
		err = errors.New("an account is gone whose policy is read")
	}
	window := time.Duration(policy.LockoutWindow) * time.Minute
	return signin.Policy{Account: found.SamUsername, Threshold: policy.LockoutThreshold, Window: window}, err
}

// enabledDirectory is a directory that does not know whether an account may still log on.
type enabledDirectory struct {
	signin.Directory
	accounts
}

// Groups implements [signin.Directory]. An account that the API does not find is one of
// another domain: the directory alone answers for it.
func (d enabledDirectory) Groups(ctx context.Context, sid string) (*signin.Person, error) {
	person, err := d.Directory.Groups(ctx, sid)
	if err != nil {
		return nil, err
	}
	found, ok, err := d.byName(ctx, person.Name)
	switch {
	case err != nil:
		return nil, err
	case ok && found.SID == sid && (!found.Enabled || found.AccountExpires != nil && !time.Now().Before(*found.AccountExpires)):
		return nil, signin.ErrRefused
	}
	return person, nil
}
