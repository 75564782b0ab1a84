package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/spf13/cobra"

	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/cmd/adgateway/internal/output"
	"adgateway/gateway/engine"
	"adgateway/winsvc/host"
)

func (p *commands) doctorCommand() *cobra.Command {
	asJSON, list := false, false
	c := &cobra.Command{
		Use: "doctor", Short: "Check what a node needs on this computer, and show how to fix what is missing",
		Args: cobra.NoArgs,
		Long: "Checks what a node needs on this computer, with the settings of its gateway, and shows\n" +
			"how to fix each fault. Nothing is changed. 'adgateway doctor' checks the cluster.",
		RunE: func(c *cobra.Command, _ []string) error {
			out := c.OutOrStdout()
			switch {
			case list && asJSON:
				return output.JSON(out, doctor.Listed(doctor.NodeChecks()))
			case list:
				return doctor.List(out, doctor.NodeChecks())
			}
			return p.examine(c.Context(), out, asJSON)
		},
	}
	p.flags.AddTo(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&list, "list", false,
		"list all checks with the faults they can find and the advice, and check nothing")
	return c
}

// examine runs the checks and writes their results. It returns an [exitCode] if a check found something.
func (p *commands) examine(ctx context.Context, out io.Writer, asJSON bool) error {
	var written error
	progress := func(r doctor.Result) { written = errors.Join(written, r.Text(out)) }
	if asJSON {
		progress = nil
	}
	result := doctor.Examine(ctx, doctor.NodeChecks(), p.probes(), progress)
	if ctx.Err() != nil {
		return errors.New("the examination was interrupted")
	}
	if asJSON {
		written = output.JSON(out, result)
	} else {
		_, err := fmt.Fprintf(out, "\n%s\n", result.Summary())
		written = errors.Join(written, err)
	}
	if code := result.ExitCode(); written == nil && code != 0 {
		return exitCode(code)
	}
	return written
}

// probes returns the probes for this computer.
func (p *commands) probes() doctor.Probes {
	return doctor.Probes{
		Settings: func() (doctor.Settings, error) {
			s, m, err := readNode(&p.flags)
			if err != nil {
				return doctor.Settings{File: p.flags.Path()}, err
			}
			self := m.id.Gateway
			return doctor.Settings{
				File: p.flags.Path(), Exists: true, Values: s, Node: self, Peers: m.list.Members().Routes(self),
			}, nil
		},
		System:  host.ReadSystem,
		Sleep:   host.ReadSleep,
		Exposed: files.Exposed,
		Free:    host.FreeSpace,
		Dial:    (&net.Dialer{}).DialContext,
		Node: doctor.NodeProbes{
			Owned: engine.OwnFolder, Routes: readRoutes, Volume: host.ReadVolume, WriteCache: host.ReadWriteCache,
			Scanner: host.ScannerExclusions, Backup: host.BackupExclusions, Indexed: host.Indexed,
		},
	}
}

// readRoutes returns the names of the nodes connected to a node, given the address of its monitoring page.
func readRoutes(ctx context.Context, address string) ([]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/routez", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers with %s", response.Status)
	}
	var page struct {
		Routes []struct {
			Name string `json:"remote_name"`
		} `json:"routes"`
	}
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
		return nil, err
	}
	var names []string
	for _, r := range page.Routes { // there are several routes to each node
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
