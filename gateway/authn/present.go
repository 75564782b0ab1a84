package authn

import (
	"context"

	"adgateway/gateway/identity"
)

// People returns the current rights of the person with the given SID, signed in or not: one principal for
// each role, or none if the account may no longer log on. It fails if the directory could not
// answer.
type People func(ctx context.Context, sid string) ([]*identity.Principal, error)

// RightsOf returns the current rights of a caller: one principal, or one for each role of a person.
// It returns none if the caller no longer exists, or cannot be looked up because auth is no [Source]
// or people is nil. It fails if the rights cannot be determined at the moment.
func RightsOf(
	ctx context.Context, auth Authenticator, people People, id identity.ID,
) ([]*identity.Principal, error) {
	if id.Kind == identity.KindPerson {
		if people == nil {
			return nil, nil
		}
		return people(ctx, id.ID)
	}
	source, ok := auth.(Source)
	if !ok {
		return nil, nil
	}
	if p := source.Now(id); p != nil {
		return []*identity.Principal{p}, nil
	}
	return nil, nil
}
