package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/jobclient"
	"adgateway/gateway/atomicfile"
	"adgateway/gateway/filefault"
	"adgateway/gateway/visible"
	"adgateway/winsvc/host"
)

// submitFlags are the flags of a submission.
type submitFlags struct {
	*jobFlags
	format, passwords string
	dryRun, validate  bool
}

func jobSubmitCommand(common *jobFlags) *cobra.Command {
	f := &submitFlags{jobFlags: common}
	c := &cobra.Command{
		Use:  "submit FILE",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	flags := c.Flags()
	flags.String("operation", "",
		"`OPERATION` of items that name none, such as user.update")
	flags.String("name", "", "`NAME` of the job (default: the name of FILE)")
	flags.StringVar(&f.format, "format", "",
		"`FORMAT` of the list: csv, ndjson or json (default: by the extension)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "dry run each item; then run them with 'adgateway job start'")
	flags.BoolVar(&f.validate, "validate", false, "only check the list; then run it with 'adgateway job start'")
	addStop(flags)
	flags.String("not-before", "", "start at this `TIME`, such as 2027-01-31T22:00:00Z")
	flags.Bool("skip-invalid", false,
		"leave out items with mistakes instead of rejecting the list")
	flags.StringVar(&f.passwords, "passwords-to", "",
		"new `FILE` for the result with the generated passwords, which only you can read; waits for the job")
	addWatch(flags)
	jsonFlag(c)
	return c
}

// mediaTypes maps the formats of lists to media types.
var mediaTypes = map[string]string{"csv": "text/csv", "ndjson": "application/x-ndjson",
	"json": "application/json"}

// formats maps file extensions to formats.
var formats = map[string]string{".csv": "csv", ".tsv": "csv", ".txt": "csv", ".ndjson": "ndjson",
	".jsonl": "ndjson", ".json": "json"}

// formatOf returns the format of a list.
func (f *submitFlags) formatOf(file string, list []byte) (string, error) {
	if f.format != "" {
		if _, known := mediaTypes[f.format]; !known {
			return "", fmt.Errorf("--format: %q is not allowed here: it takes one of %s", f.format,
				strings.Join(slices.Sorted(maps.Keys(mediaTypes)), ", "))
		}
		return f.format, nil
	}
	if file == "-" {
		start := bytes.TrimPrefix(bytes.TrimSpace(list), []byte("\ufeff"))
		compact := bytes.Join(bytes.Fields(start[:min(len(start), 64)]), nil)
		switch {
		case bytes.HasPrefix(compact, []byte(`{"items":`)):
			return "json", nil
		case bytes.HasPrefix(compact, []byte("{")):
			return "ndjson", nil
		default:
			return "csv", nil
		}
	}
	extension := strings.ToLower(filepath.Ext(file))
	format, known := formats[extension]
	if !known {
		return "", fmt.Errorf("%s: the extension is not that of a list; save a spreadsheet as \"CSV UTF-8\", "+
			"or name the format with --format", file)
	}
	return format, nil
}

// mostList is the largest list that the command reads, in bytes. The limit of gateways is lower.
const mostList = 256 << 20

func readList(c *cobra.Command, file string) ([]byte, error) {
	var in io.Reader = c.InOrStdin()
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, filefault.Explain("FILE", err)
		}
		defer opened.Close()
		in = opened
	}
	list, err := io.ReadAll(io.LimitReader(in, mostList+1))
	if err != nil {
		return nil, filefault.Explain("FILE", err)
	}
	if len(list) > mostList {
		return nil, fmt.Errorf("FILE: %s is larger than %d bytes; split it into several lists", file, mostList)
	}
	return list, nil
}

// query returns the parameters of the submission.
func (f *submitFlags) query(c *cobra.Command, file string) url.Values {
	query := flagQuery(c)
	if !query.Has("Name") && file != "-" {
		query.Set("Name", filepath.Base(file))
	}
	switch {
	case f.dryRun:
		query.Set("Mode", "dryRun")
	case f.validate:
		query.Set("Mode", "validate")
	}
	return query
}

func (f *submitFlags) run(c *cobra.Command, file string) error {
	if f.dryRun && f.validate {
		return errors.New("use only one of --dry-run and --validate: a dry run also checks the list")
	}
	client, err := f.client()
	if err != nil {
		return err
	}
	list, err := readList(c, file)
	if err != nil {
		return err
	}
	format, err := f.formatOf(file, list)
	if err != nil {
		return err
	}
	s := jobclient.Submission{
		Media: mediaTypes[format], List: list, Key: uuid.NewString(), Query: f.query(c, file),
	}
	if f.passwords != "" {
		key, err := newPasswordFile(f.passwords)
		if err != nil {
			return err
		}
		s.Query.Set("ResultKey", key.ResultKey())
	}
	job, err := client.Submit(c.Context(), s)
	if f.passwords != "" && (err != nil && !mayHaveArrived(err) || err == nil && job.State == "rejected") {
		err = errors.Join(err, os.Remove(keyFile(f.passwords)))
	}
	var refused *jobclient.Refused
	if errors.As(err, &refused) &&
		(refused.Status == http.StatusBadRequest || refused.Status == http.StatusRequestEntityTooLarge) {
		fmt.Fprintf(c.ErrOrStderr(), "adgateway: %v\n", err)
		return codeMisuse // the list was rejected
	}
	if err != nil {
		return err
	}
	if f.passwords == "" || job.State == "rejected" {
		return f.settle(c, client, job, watches(c))
	}
	return f.fetchWhenEnded(c, client, job)
}

// mayHaveArrived reports whether a submission without an answer may have created a job.
func mayHaveArrived(err error) bool {
	var refused *jobclient.Refused
	return !errors.As(err, &refused)
}

// fetchWhenEnded follows the job and then writes its passwords.
func (f *submitFlags) fetchWhenEnded(c *cobra.Command, client *jobclient.Client, job *jobclient.Job) error {
	id := job.ID
	job, err := f.follow(c, client, id)
	if err != nil {
		fmt.Fprintf(c.ErrOrStderr(),
			"Fetch the passwords when it has ended: adgateway job result %s --passwords-to %s\n", id, f.passwords)
		return err
	}
	if !job.Ended() {
		fmt.Fprintf(c.ErrOrStderr(),
			"Fetch the passwords when it has run: adgateway job result %s --passwords-to %s\n", id, f.passwords)
		return f.finish(c, job)
	}
	if err := fetchPasswords(c, client, job, f.passwords); err != nil {
		return err
	}
	return f.finish(c, job)
}

// keyFile returns the name of the file that keeps the private key until the passwords are written.
func keyFile(passwords string) string { return passwords + ".key" }

// newPasswordFile makes a key pair. It stores the private key next to the future password
// file, so that the passwords survive this process.
func newPasswordFile(file string) (*jobclient.Passwords, error) {
	for _, name := range []string{file, keyFile(file)} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--passwords-to: %s already exists; name a new file", name)
		}
	}
	key, err := jobclient.NewPasswords()
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(keyFile(file), key.Key(), host.Files{}.Restrict); err != nil {
		return nil, filefault.Explain("--passwords-to", err)
	}
	return key, nil
}

// fetchPasswords writes the result of a job with its passwords. It removes the private key when no result
// sealed with it remains.
func fetchPasswords(c *cobra.Command, client *jobclient.Client, job *jobclient.Job, file string) error {
	text, err := os.ReadFile(keyFile(file))
	if err != nil {
		return filefault.Explain("--passwords-to", fmt.Errorf("the key with which the job was submitted: %w", err))
	}
	key, err := jobclient.ParsePasswords(text)
	if err != nil {
		return fmt.Errorf("%s: %w", keyFile(file), err)
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--passwords-to: %s already exists; move it away first", file)
	}
	var opened bytes.Buffer
	n, err := openResult(c.Context(), client, job.ID, key, &opened)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(file, opened.Bytes(), host.Files{}.Restrict); err != nil {
		return filefault.Explain("--passwords-to", err)
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s contains %d passwords; only you can read it.\n", file, n)
	if job.Failed+job.Unknown+job.NotRun > 0 {
		fmt.Fprintf(c.ErrOrStderr(),
			"%s was not removed, because the passwords of a retry are encrypted with it, too. To fetch them as "+
				"for this job, move %s away first; if you do not need them, remove the key.\n", keyFile(file), file)
		return nil
	}
	return os.Remove(keyFile(file))
}

// openResult fetches a result and decrypts its passwords. It retries an interrupted transfer, which is
// possible because the gateway keeps the passwords until it has sent a result completely.
func openResult(
	ctx context.Context, client *jobclient.Client, id string, key *jobclient.Passwords, opened *bytes.Buffer,
) (n int, err error) {
	const tries = 3
	for range tries {
		var result io.ReadCloser
		if result, err = client.Result(ctx, id, ""); err != nil {
			var refused *jobclient.Refused
			if errors.As(err, &refused) || ctx.Err() != nil {
				return 0, err
			}
			continue
		}
		var text []byte
		text, err = io.ReadAll(result)
		_ = result.Close() // already read completely
		if err == nil {
			return key.Open(opened, bytes.NewReader(text))
		}
	}
	return 0, err
}

func jobResultCommand(f *jobFlags) *cobra.Command {
	var format, out, passwords string
	c := &cobra.Command{
		Use:  "result ID",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if passwords != "" && (out != "" || format != "") {
				return errors.New("--passwords-to cannot be used with --out or --format: the result is written to " +
					"its FILE, in the format of the list")
			}
			client, err := f.client()
			if err != nil {
				return err
			}
			if passwords != "" {
				job, err := client.Get(c.Context(), args[0])
				if err != nil {
					return err
				}
				return fetchPasswords(c, client, job, passwords)
			}
			result, err := client.Result(c.Context(), args[0], format)
			if err != nil {
				return err
			}
			defer result.Close()
			if out == "" {
				to := c.OutOrStdout()
				if raw := visible.Raw(to); !isTerminal(raw) {
					to = raw
				}
				_, err = io.Copy(to, result)
				return err
			}
			text, err := io.ReadAll(result)
			if err != nil {
				return err
			}
			return filefault.Explain("--out", atomicfile.Write(out, text, nil))
		},
	}
	c.Flags().StringVar(&format, "format", "", "`FORMAT`: csv or ndjson (default: the format of the list)")
	c.Flags().StringVar(&out, "out", "", "write to this `FILE` instead of standard output")
	c.Flags().StringVar(&passwords, "passwords-to", "",
		"`FILE` that was given at the submission, for the result with the generated passwords")
	return c
}
