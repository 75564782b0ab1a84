// Package signin signs people in to the pages of the gateway: with their domain account, with a token, or
// with a link that works once. A [Directory] checks the passwords. A [Gate] stops asking the directory before
// the domain would lock an account out, assigns roles by group, and keeps the sessions.
//
// The gateways of a cluster share sessions, the data that the pages store for them, the wrong
// passwords of accounts, and the uses of tickets, because requests may go to any of them. Each
// gateway has its own links, and its own count of the tries from an address, which only slows a
// host down.
//
//	gate.go     the gate, and the ways to sign in
//	session.go  sessions: their start, use and end
//	stored.go   stored sessions, and decisions about them
//	steps.go    data that the pages store for a session
//	tries.go    wrong passwords
//	tickets.go  Kerberos tickets: their uses, and invalid ones
//	rights.go   rights of people who may not be signed in, such as those whose jobs are running
//	lookup.go   data about the accounts whose passwords are tried
package signin

import (
	"context"
	"errors"

	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/identity"
)

// Person is a domain account that signed in.
type Person struct {
	SID    string   `json:"sid"`
	Name   string   `json:"name"`   // sAMAccountName
	Groups []string `json:"groups"` // SIDs of all groups, including nested ones

	Locked bool   `json:"-"` // whether the domain has locked the account out, which does not end a session
	Use    []byte `json:"-"` // identifies the use of a ticket; nil without one
}

// Directory knows the accounts of the domain. It must be safe for concurrent use. Errors that are
// not defined in this package mean that the directory could not answer.
type Directory interface {
	// Check checks a password. name is a sAMAccountName or a UPN. domain is the text that was typed
	// before it, or "". Check does not keep the password; the caller wipes it.
	Check(ctx context.Context, domain, name string, password []byte) (*Person, error)
	// Accept returns the person in a Kerberos ticket, with the groups in the ticket, or nil if the ticket names
	// nobody. reply proves the gateway's identity to the client; it is nil if the client did not ask for a
	// proof. Accept does not check whether the account may log on now, or whether the ticket was used before.
	// The error is a [*negotiate.Refusal] if the ticket is at fault.
	Accept(ctx context.Context, token negotiate.Token) (person *Person, reply []byte, err error)
	// Groups returns the current data of a person. It fails with ErrRefused if the account may no
	// longer log on.
	Groups(ctx context.Context, sid string) (*Person, error)
}

// Errors that a [Directory] may return.
var (
	ErrRefused     = errors.New("signin: the name or password is not right, or the account may not log on")
	ErrMustChange  = errors.New("signin: the password is right and must be changed")
	ErrExpired     = errors.New("signin: the password is right and has expired")
	ErrUnsupported = errors.New("signin: this way to sign in is not supported")
)

// Role holds the rights of a group's members. Roles are not merged, so a single role must allow the whole
// action.
type Role struct {
	Group  string // SID
	Name   string // for people
	Scopes []identity.Scope
	Limits identity.Limits
	Quota  *identity.Quota // of each member; nil means the default for everyone
}

// principals returns one principal for each role of a person.
func principals(p *Person, roles []Role) []*identity.Principal {
	var all []*identity.Principal
	for _, role := range roles {
		for _, sid := range p.Groups {
			if sid == role.Group {
				all = append(all, &identity.Principal{
					ID: p.SID, Name: p.Name, Kind: identity.KindPerson, Dialect: identity.Standard,
					Scopes: role.Scopes, Limits: role.Limits, Quota: role.Quota,
				})
				break
			}
		}
	}
	return all
}
