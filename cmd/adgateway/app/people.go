package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"adgateway/gateway/auth"
	"adgateway/gateway/inprocess"
	"adgateway/gateway/signin"
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

// read reads the only record of an answer. A list may have none: then found is false.
func (a accounts) read(ctx context.Context, path string, query url.Values, record any) (found bool, err error) {
	reader := &auth.Principal{
		Name: "sign-in", Kind: "gateway", Scopes: []auth.Scope{auth.UserRead}, Dialect: auth.Standard, Uncounted: true,
	}
	r, err := http.NewRequestWithContext(auth.WithPrincipal(ctx, reader), http.MethodGet, path+"?"+query.Encode(), nil)
	if err != nil {
		return false, err
	}
	taken := inprocess.Send(a.api, r)
	if taken.Status == http.StatusNotFound {
		return false, nil
	}
	answer := struct{ Result []json.RawMessage }{}
	if err := json.Unmarshal(taken.Body, &answer); err != nil {
		return false, err
	}
	if taken.Status != http.StatusOK || len(answer.Result) > 1 {
		return false, fmt.Errorf("GET %s: status %d, %d records", path, taken.Status, len(answer.Result))
	}
	if len(answer.Result) == 0 {
		return false, nil
	}
	return true, json.Unmarshal(answer.Result[0], record)
}

// byName returns the account with a sAMAccountName.
func (a accounts) byName(ctx context.Context, name string) (found account, ok bool, err error) {
	ok, err = a.read(ctx, "/api/ADUser/"+url.PathEscape(name)+"/Details", url.Values{"ShowFields": {accountFields}}, &found)
	return found, ok, err
}

// named returns the account whose password is tried under a name: a sAMAccountName, a UPN,
// or what every account has besides, sAMAccountName@domain, with the DNS name of the domain
// or its NetBIOS name. An account of another domain counts as the one of this domain that
// has its sAMAccountName.
func (a accounts) named(ctx context.Context, name string) (found account, ok bool, err error) {
	before, _, upn := strings.Cut(name, "@")
	if !upn {
		return a.byName(ctx, name)
	}
	text, err := json.Marshal(name)
	if err != nil {
		return account{}, false, err
	}
	filter := url.Values{"ShowFields": {accountFields}, "Filter": {"userPrincipalName eq " + string(text)}}
	if ok, err = a.read(ctx, "/api/ADUser/ListUsers/All", filter, &found); ok || err != nil {
		return found, ok, err
	}
	return a.byName(ctx, before)
}

// lockoutPolicy reads the policy that locks an account out: the Policy of a gate.
func (a accounts) lockoutPolicy(ctx context.Context, name string, _ netip.Addr) (sam string, threshold int, window time.Duration, err error) {
	found, ok, err := a.named(ctx, name)
	var policy struct{ LockoutThreshold, LockoutWindow int }
	if err == nil && ok {
		_, err = a.read(ctx, "/api/ADUser/"+url.PathEscape(found.SamUsername)+"/PasswordPolicy", nil, &policy)
	}
	if err == nil && !ok {
		err = fmt.Errorf("there is no account %s", name)
	}
	return found.SamUsername, policy.LockoutThreshold, time.Duration(policy.LockoutWindow) * time.Minute, err
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
