package setup

import (
	"context"
	"errors"
	"io/fs"

	"adgateway/gateway/authn"
	"adgateway/gateway/credentials"
	"adgateway/gateway/store"
)

// takeAccounts adds the tokens and users of the file to a store, where all gateways of the
// cluster can read them. It skips accounts that it has added before.
func (o Options) takeAccounts(ctx context.Context, db *store.Sealed) error {
	if o.Accounts.Path == "" {
		return nil
	}
	document, _, err := o.Accounts.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = credentials.Move(ctx, db, document)
	}
	return err
}

// leaveAccounts moves the tokens and users of a store, if it has any, to the file, where
// they replace the previous ones. Afterwards the file is in use.
func (o Options) leaveAccounts(ctx context.Context, db *store.Sealed) error {
	if o.Accounts.Path == "" {
		return nil
	}
	document, err := credentials.Read(ctx, db)
	if err != nil || len(document.Tokens)+len(document.Users) == 0 {
		return err
	}
	err = o.Accounts.Edit(ctx, func(d *authn.Document) error {
		d.Tokens, d.Users = document.Tokens, document.Users
		return nil
	})
	if err != nil {
		return err
	}
	return credentials.Edit(ctx, db, func(d *authn.Document) error {
		d.Tokens, d.Users = nil, nil
		return nil
	})
}
