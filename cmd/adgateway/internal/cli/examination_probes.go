package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"adgateway/cmd/adgateway/app"
	"adgateway/cmd/adgateway/internal/doctor"
	"adgateway/gateway/authn"
	"adgateway/gateway/authn/negotiate"
	"adgateway/gateway/config"
	"adgateway/gateway/store"
	"adgateway/gateway/tlscert"
	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/scripts"
	"adgateway/winsvc"
	"adgateway/winsvc/host"
)

func (e *examination) probes() doctor.Probes {
	files := host.Files{Service: winsvc.Gateway.Name}
	return doctor.Probes{
		Settings: func() (doctor.Settings, error) { return e.settings, e.faults },
		System:   host.ReadSystem,
		Account:  host.ReadAccount,
		Service:  func() (host.Service, error) { return host.ReadService(winsvc.Gateway.Name) },
		Policy:   host.ExecutionPolicy,
		Sleep:    host.ReadSleep,

		Self: func(ctx context.Context, cfg *config.Settings) (doctor.SelfView, error) {
			files, ok := app.SelfFiles(cfg, e.settings.File, e.options.Sandbox)
			if !ok {
				return doctor.SelfView{}, errors.ErrUnsupported
			}
			return files.Ask(ctx)
		},

		FindPowerShell: e.find,
		Survey:         e.survey,
		Open:           e.session,
		Run: func(ctx context.Context, request ps.Request) (*ps.Result, error) {
			runner, err := e.open()
			if err != nil {
				return nil, err
			}
			return runner.Pool.Run(ctx, request)
		},
		Dial: e.dial,

		Listen:     tryListening,
		PortHolder: host.PortHolder,
		KeyProbes: doctor.KeyProbes{
			Certificate: certificateOf, Keytab: namesInKeytab, Browsers: host.BrowserPolicies,
		},
		Names: host.Names,

		Receiver: app.ReachWebhook,
		Rewound:  store.Rewound,
		Cluster:  readCluster,

		Exposed:     files.Exposed,
		Writable:    host.Writable,
		Free:        host.FreeSpace,
		Credentials: readCredentials,

		Now: time.Now, OUs: e.options.OUs, Limit: e.options.Limit,
	}
}

// survey runs the survey in a PowerShell process that is not a session.
func (e *examination) survey(ctx context.Context) (doctor.Survey, error) {
	starter, err := e.start()
	if err != nil {
		return doctor.Survey{}, err
	}
	written, err := session.Ask(ctx, starter, scripts.Survey())
	if err != nil {
		return doctor.Survey{}, err
	}
	for line := range strings.Lines(written) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), scripts.SurveyMark); ok {
			var survey doctor.Survey
			return survey, json.Unmarshal([]byte(text), &survey)
		}
	}
	return doctor.Survey{}, fmt.Errorf("unexpected output of the survey: %.200q", written)
}

func (e *examination) session(ctx context.Context, lane ps.Lane) (doctor.Session, error) {
	runner, err := e.open()
	if err != nil {
		return doctor.Session{}, err
	}
	ready, took, err := runner.Open(ctx, lane)
	return doctor.Session{
		PowerShell: ready.PowerShell, Edition: ready.Edition, Module: ready.Module,
		ModuleVersion: ready.ModuleVersion, Took: took,
	}, err
}

// tryListening opens and closes the gateway's listener.
func tryListening(ctx context.Context, cfg *config.Settings) error {
	listener, err := app.Listen(ctx, cfg)
	switch {
	case err == nil:
		return listener.Close()
	case app.PortTaken(err):
		return fmt.Errorf("%w: %w", doctor.ErrPortTaken, err)
	case app.PortForbidden(err):
		return fmt.Errorf("%w: %w", doctor.ErrPortForbidden, err)
	}
	return err
}

// certificateOf describes the certificate that a gateway with these settings serves.
func certificateOf(cfg *config.Settings) (doctor.Certificate, error) {
	served, err := app.Certificate(cfg, host.Certificates())
	if err != nil {
		return doctor.Certificate{}, err
	}
	leaf := served.Leaf
	return doctor.Certificate{Subject: leaf.Subject.String(), Names: tlscert.Names(leaf), Ends: leaf.NotAfter},
		nil
}

// namesInKeytab returns the names for which a keytab contains keys.
func namesInKeytab(path string) ([]string, error) {
	keys, err := negotiate.ReadKeytab(path, negotiate.Required)
	if err != nil {
		return nil, err
	}
	return keys.Names(), nil
}

// readCluster asks the gateways of the cluster in the settings, and connects to its nodes.
func readCluster(ctx context.Context, s *config.Settings) (c doctor.Cluster, err error) {
	o, err := app.SharedOptions(s, io.Discard)
	if err != nil || o.Identity == nil {
		return c, err
	}
	c.Name, c.Gateway = o.Identity.Cluster, o.Identity.Gateway
	all, nodes, err := app.AskCluster(ctx, o)
	if err != nil {
		return c, err
	}
	for _, g := range all {
		c.Gateways = append(c.Gateways, doctor.ClusterGateway{Name: g.Name, Err: g.Err})
		if g.State.Leader != nil {
			c.Leader = *g.State.Leader
		}
	}
	for _, node := range nodes {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", node)
		if err == nil {
			c.NoNode = nil
			return c, conn.Close()
		}
		c.NoNode = append(c.NoNode, node+": "+err.Error())
	}
	return c, nil
}

// readCredentials lists the accounts that may call the API, without their secrets.
func readCredentials(path string) ([]doctor.Credential, error) {
	// the file check reports the warning
	document, _, err := authn.File{Path: path, Guardian: host.Files{Service: winsvc.Gateway.Name}}.Read()
	if err != nil {
		return nil, err
	}
	var found []doctor.Credential
	for _, account := range append(document.Tokens, document.Users...) {
		c := doctor.Credential{Name: account.Name}
		if account.Expires != nil {
			c.Expires = *account.Expires
		}
		found = append(found, c)
	}
	return found, nil
}
