package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/output"
	"adgateway/gateway/atomicfile"
	"adgateway/gateway/authn"
	"adgateway/gateway/filefault"
	"adgateway/winsvc/host"
)

// issuedFlags select where to write a new token.
type issuedFlags struct {
	file string
}

// AddTo declares the flags.
func (f *issuedFlags) AddTo(c *cobra.Command) {
	jsonFlag(c)
	c.Flags().StringVar(&f.file, "out", "",
		"new `FILE` for the token, which only you can read (default: standard output)")
	c.MarkFlagsMutuallyExclusive("json", "out")
}

// Reserve creates the file before the token is created, so that no token is lost because it cannot be
// written. release removes the file if no token was written to it.
func (f *issuedFlags) Reserve() (release func(), err error) {
	if f.file == "" {
		return func() {}, nil
	}
	if _, err := os.Lstat(f.file); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--out: %s already exists; name a new file", f.file)
	}
	if err := atomicfile.Write(f.file, nil, host.Files{}.Restrict); err != nil {
		return nil, filefault.Explain("--out", err)
	}
	return func() { _ = os.Remove(f.file) }, nil // the file is still empty
}

// Print prints a new token on standard output, or writes it to the file, and prints the
// account on the other stream, so that a script can capture the token. As JSON, both are one
// object. place names the store of the account. The file has the token before anything is printed,
// because nobody may read the output.
func (f *issuedFlags) Print(c *cobra.Command, a *authn.Account, token, place string, now time.Time) error {
	if asJSON(c) {
		return output.JSON(c.OutOrStdout(), output.IssuedToken{Account: output.NewAccount(a, nil), Token: token})
	}
	if token != "" && f.file != "" {
		if err := atomicfile.Write(f.file, []byte(token+"\n"), host.Files{}.Restrict); err != nil {
			return fmt.Errorf("the token is lost; rotate it: %w", filefault.Explain("--out", err))
		}
	}
	err := output.NewAccount(a, nil).Text(c.ErrOrStderr(), now)
	if err == nil {
		_, err = fmt.Fprintf(c.ErrOrStderr(), "It is in %s.\n", place)
	}
	if token == "" || err != nil {
		return err
	}
	if f.file != "" {
		_, err = fmt.Fprintf(c.ErrOrStderr(), "%s contains the token; only you can read it.\n", f.file)
		return err
	}
	if _, err := fmt.Fprintln(c.ErrOrStderr(), "The token is shown only once:"); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), token)
	return err
}
