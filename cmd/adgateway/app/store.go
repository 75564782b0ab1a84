package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/sirupsen/logrus"

	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway"
	"adgateway/gateway/authn"
	"adgateway/gateway/config"
	"adgateway/gateway/credentials"
	"adgateway/gateway/keyring"
	"adgateway/winsvc/events"
	"adgateway/winsvc/host"
)

// noCredentials is logged and reported while there are no accounts.
const noCredentials = "There are no credentials: nobody can call the API. 'adgateway token create' makes " +
	"a token."

// createStore creates an empty credential file if it does not exist.
func createStore(ctx context.Context, file authn.File) error {
	if _, err := os.Lstat(file.Path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return file.Edit(ctx, func(*authn.Document) error { return nil })
}

// sharedCredentials returns the credentials that the gateways of a cluster
// share. The sealed copy is next to the file that would hold them otherwise.
func sharedCredentials(file authn.File, c config.Auth, log *logrus.Logger) *credentials.Credentials {
	return credentials.New(credentials.Options{
		Copy: file.Path + ".shared", StaleMax: c.StaleMax,
		Problem: func(message string, err error) {
			if err == nil {
				log.Info(message)
			} else {
				log.WithError(err).Error(message)
			}
		},
	})
}

// SharedOptions returns the options with which a command opens
// the shared data of gateways. Events are written to log.
func SharedOptions(s *config.Settings, log io.Writer) (Options, error) {
	logger := logrus.New()
	logger.SetOutput(log)
	o := Options{Settings: s, Log: logger, Store: host.Certificates(), KeyGroup: KeyGroup}
	var err error
	o.Folder, o.Identity, err = program.Joined(s)
	return o, err
}

// KeyGroup returns a wrapper that encrypts the key of a cluster's shared data for a group of the domain.
func KeyGroup(name string) (keyring.Wrapper, error) {
	secrets, err := host.ForGroup(name)
	if err != nil {
		return nil, err
	}
	return secrets, nil
}

// openStore opens the credentials of a gateway: the shared ones
// if there are any, otherwise the file. The caller must call Run.
func openStore(
	file authn.File, shared *credentials.Credentials, c config.Auth, log *logrus.Logger, write events.Write,
) (*authn.Store, error) {
	options := authn.StoreOptions{
		File: file, Header: authn.Header{AllowQuery: c.AllowQueryToken}, Failures: c.Failures,
		Log: func(problem bool, message string, fields map[string]any) {
			level := logrus.InfoLevel
			if problem {
				level = logrus.ErrorLevel
			}
			log.WithFields(fields).Log(level, message)
			events.Logged(write, message, fields)
		},
	}
	if shared != nil {
		options.Shared = shared
	}
	store, err := authn.OpenStore(options)
	if err != nil {
		return nil, fmt.Errorf("credentials:\n%w", err)
	}
	return store, nil
}

// storeChecks is the readiness check of the credentials. others
// reports whether anybody can be authenticated without them.
func storeChecks(store *authn.Store, others bool) []gateway.Check {
	check := gateway.Check{Name: "credentials", OK: true}
	switch shut, err := store.State(); {
	case shut:
		check.OK, check.Reason = false, "The credentials cannot be used: nobody is let in until they can. "+
			program.OneLine(err)
	case err != nil:
		check.Degraded, check.Reason = true, "The credentials cannot be used; those from before stay in force "+
			"for a moment. "+program.OneLine(err)
	case store.Empty() && !others:
		check.OK, check.Reason = false, noCredentials
	default:
		if expiring := store.Expiring(config.ExpiryNotice); len(expiring) > 0 {
			check.Degraded, check.Reason = true, "These credentials expire soon, or have expired: "+
				strings.Join(expiring, ", ")+"."
		}
	}
	return []gateway.Check{check}
}
