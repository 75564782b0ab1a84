package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adgateway/gateway/authn"
)

// certificateName identifies a client certificate by its subject and its required issuer.
type certificateName struct{ Subject, Issuer string }

// CreateToken adds an account of this name and returns its token, which is stored nowhere.
// With a client certificate there is no token: the certificate alone gives the rights. The
// error joins all mistakes in the arguments with invalid, the error of [rightsFlags.Parse].
func (s accountStore) CreateToken(
	ctx context.Context, name string, of certificateName, rights authn.Rights, invalid error, now time.Time,
) (a *authn.Account, token string, err error) {
	a = authn.NewAccount(name, now, rights)
	if a.Subject, a.Issuer = of.Subject, of.Issuer; of == (certificateName{}) {
		token = a.AddToken(now, now)
	}
	if err := errors.Join(unnamed(a), a.Check(), invalid); err != nil {
		return nil, "", err
	}
	if err := s.Add(ctx, tokenKind, a); err != nil {
		return nil, "", err
	}
	return a, token, nil
}

// rotation replaces the token of an account.
type rotation struct {
	Grace     time.Duration // how long the previous token remains valid
	SetExpiry bool          // otherwise the account keeps its expiry
	Expires   *time.Time    // nil means never
}

// Rotate replaces the token of an account and returns the new one.
func (s accountStore) Rotate(
	ctx context.Context, name string, r rotation, now time.Time,
) (a *authn.Account, token string, err error) {
	a, err = s.Edit(ctx, tokenKind, name, func(a *authn.Account) error {
		if a.Subject != "" {
			return fmt.Errorf("'%s' authenticates with a client certificate: renew the certificate instead", a.Name)
		}
		if r.SetExpiry {
			a.Expires = r.Expires
		}
		if a.Expires != nil && !a.Expires.After(now) {
			return fmt.Errorf("'%s' expired at %s, and so would the new token: set a new expiry with --expires, "+
				"such as 90d",
				a.Name, a.Expires.Format(time.RFC3339))
		}
		token = a.AddToken(now, now.Add(r.Grace))
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return a, token, nil
}

// newUser returns an account with these rights and no password yet. The error joins all
// mistakes in the arguments with invalid, the error of [rightsFlags.Parse].
func newUser(name string, rights authn.Rights, invalid error, now time.Time) (*authn.Account, error) {
	a := authn.NewAccount(name, now, rights)
	// a placeholder that makes the account a user
	a.Password = authn.HashPassword("", authn.Cost{Memory: 8, Time: 1, Threads: 1})
	if err := errors.Join(unnamed(a), a.Check(), invalid); err != nil {
		return nil, err
	}
	return a, nil
}

// unnamed returns an error if a new account has no name. Files of earlier versions may have such accounts.
func unnamed(a *authn.Account) error {
	if a.Name == "" {
		return errors.New("the name is empty, perhaps because a variable is not set: give the name of the account")
	}
	return nil
}

// AddUser sets the password of an account made by newUser and adds it.
func (s accountStore) AddUser(ctx context.Context, a *authn.Account, password string) error {
	a.Password = authn.HashPassword(password, authn.StandardCost)
	return s.Add(ctx, userKind, a)
}

// SetPassword sets the password of a user.
func (s accountStore) SetPassword(ctx context.Context, name, password string) error {
	// hash before locking the file, because hashing is slow
	hash := authn.HashPassword(password, authn.StandardCost)
	_, err := s.Edit(ctx, userKind, name, func(a *authn.Account) error {
		a.Password = hash
		return nil
	})
	return err
}
