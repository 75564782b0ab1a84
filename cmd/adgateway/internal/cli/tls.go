package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/output"
	"adgateway/cmd/adgateway/internal/program"
	"adgateway/gateway/tlscert"
)

func tlsCommand() *cobra.Command {
	return group("tls", tlsSelfSignedCommand(),
		tlsRequestCommand(), tlsImportCommand(), tlsShowCommand())
}

// tlsFlags are the flags of the commands that write certificate files.
type tlsFlags struct {
	names []string
	out   string
	force bool
}

func (f *tlsFlags) add(c *cobra.Command, names, force string) {
	c.Flags().StringArrayVar(&f.names, "name", nil, names+" (repeatable)")
	c.Flags().StringVar(&f.out, "out", program.DataDir(), "`FOLDER` of the files")
	if force != "" {
		c.Flags().BoolVar(&f.force, "force", false, force)
	}
	jsonFlag(c)
}

// folder returns the absolute path of the folder for the files. A default folder is printed
// before anything is written to it.
func (f *tlsFlags) folder(c *cobra.Command) (certificateFolder, error) {
	path, err := filepath.Abs(f.out)
	if err == nil && !c.Flags().Changed("out") {
		fmt.Fprintf(c.ErrOrStderr(), "the folder of the files is %s; --out names another one\n", path)
	}
	return certificateFolder(path), err
}

// wanted returns the given names, or else the names of this computer.
func (f *tlsFlags) wanted() []string {
	if len(f.names) > 0 {
		return f.names
	}
	return certificateNames()
}

// print prints the files written and the next steps.
func (f *tlsFlags) print(c *cobra.Command, written certificateFiles, next string) error {
	if asJSON(c) {
		return output.JSON(c.OutOrStdout(), written)
	}
	for _, file := range []string{written.Key, written.Request, written.Certificate} {
		if file != "" {
			fmt.Fprintf(c.OutOrStdout(), "wrote %s\n", file)
		}
	}
	if written.CertificateDescription != nil {
		if err := written.Text(c.OutOrStdout()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(c.OutOrStdout(), next)
	return err
}

// settingLines are the lines of the settings file that name the files.
func settingLines(w certificateFiles) string {
	return fmt.Sprintf("\nin %s; a running gateway with these settings loads it automatically:\n\n"+
		"tls:\n"+
		"  certificateFile: '%s'\n"+
		"  keyFile: '%s'\n", program.FileName, w.Certificate, w.Key)
}

func tlsSelfSignedCommand() *cobra.Command {
	var f tlsFlags
	days := 0
	c := &cobra.Command{
		Use:  "selfsigned",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			folder, err := f.folder(c)
			if err != nil {
				return err
			}
			written, err := folder.SelfSigned(f.wanted(), days, f.force, time.Now())
			if err != nil {
				return err
			}
			return f.print(c, written, settingLines(written))
		},
	}
	f.add(c, "DNS `NAME` or address that clients use (default: the names and addresses of this computer)",
		"replace existing files")
	c.Flags().IntVar(&days, "days", tlscert.MaxDays, "life in `DAYS`")
	return c
}

func tlsRequestCommand() *cobra.Command {
	var f tlsFlags
	template := ""
	c := &cobra.Command{
		Use:  "request",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			folder, err := f.folder(c)
			if err != nil {
				return err
			}
			written, err := folder.Request(f.wanted(), template, f.force)
			if err != nil {
				return err
			}
			answer := filepath.Join(string(folder), "gw.cer")
			next := fmt.Sprintf("\nsend it to the authority, then import its answer:\n\ncertreq -submit '%s' '%s'\n"+
				"adgateway tls import '%s'\n", written.Request, answer, answer)
			return f.print(c, written, next)
		},
	}
	f.add(c, "DNS `NAME` or address that clients use (default: the names and addresses of this computer)",
		"replace an existing request")
	c.Flags().StringVar(&template, "template", "WebServer",
		"`NAME` of the certificate template of AD CS, which must allow the requester to supply the subject; '' "+
			"for other authorities")
	return c
}

func tlsImportCommand() *cobra.Command {
	var f tlsFlags
	var chain []string
	c := &cobra.Command{
		Use:  "import FILE",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := f.folder(c)
			if err != nil {
				return err
			}
			written, err := folder.Import(append(args, chain...), f.wanted(), time.Now())
			if err != nil {
				return err
			}
			return f.print(c, written, settingLines(written))
		},
	}
	f.add(c, "DNS `NAME` or address; the certificate must be for one of them "+
		"(default: those of this computer)", "")
	c.Flags().StringArrayVar(&chain, "chain", nil,
		"`FILE` with intermediate certificates (repeatable)")
	return c
}

func tlsShowCommand() *cobra.Command {
	f := program.Flags{Fallback: program.DefaultFile()}
	c := &cobra.Command{
		Use:  "show",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			live, err := f.Load()
			if err != nil {
				return err
			}
			shown, err := showCertificate(c.Context(), live.Now(), time.Now())
			if err != nil {
				return err
			}
			err = show(c, shown, shown.Text)
			if err == nil && shown.Configured == nil {
				return codeFailed
			}
			return err
		},
	}
	f.AddTo(c.Flags())
	jsonFlag(c)
	return c
}
