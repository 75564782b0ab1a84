package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adgateway/gateway/config"
	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/proxies"
	"adgateway/ps/sandbox/remote"
	"adgateway/ps/session"
	"adgateway/scripts"
)

// EngineCommand is the argument that makes this executable run as the process of a session, in which the
// sandbox's engine stands in for PowerShell.
const EngineCommand = "engine"

// builtIn is the value of sandbox.engine for the sandbox's own engine.
const builtIn = "sandbox"

// Engine is the engine that runs the scripts of a sandbox.
type Engine struct {
	Name      string // for the header X-Engine: "sandbox", "sandbox on pwsh"
	Path      string // of a real PowerShell; empty for the sandbox's own engine
	processes bool   // the sandbox's own engine runs each session in its own process
}

// NewEngine returns the engine of the settings. It returns an error if the settings name a PowerShell that is
// not installed.
func NewEngine(c config.Sandbox) (Engine, error) {
	if c.Engine == builtIn || c.Engine == "" {
		return Engine{Name: builtIn, processes: c.Processes}, nil
	}
	path, err := proxies.Locate(c.Engine)
	if err != nil {
		return Engine{}, fmt.Errorf("sandbox.engine: %w", err)
	}
	name := filepath.Base(path)
	return Engine{Name: builtIn + " on " + strings.TrimSuffix(name, filepath.Ext(name)), Path: path}, nil
}

// Starter returns the starter for the sessions of a world: in this process, each in a process of
// its own, or each in a real PowerShell. temp is the temporary folder of processes. end is called
// after the last session.
func (e Engine) Starter(
	world *sandbox.World, temp string,
) (starter session.Starter, end func() error, err error) {
	if e.Path == "" && !e.processes {
		return world.Starter(), func() error { return nil }, nil
	}
	server, err := remote.NewServer(world)
	if err != nil {
		return nil, nil, err
	}
	return e.over(server, server.Close, temp)
}

// LinkStarter is Starter for a domain in another process.
func (e Engine) LinkStarter(
	link *remote.Link, temp string,
) (starter session.Starter, end func() error, err error) {
	if e.Path == "" && !e.processes {
		return link.Starter(), link.Close, nil
	}
	return e.over(link, link.Close, temp)
}

// over returns a starter for processes that use keys to reach
// the domain, and a function to call after the last session.
func (e Engine) over(
	keys remote.Issuer, end func() error, temp string,
) (session.Starter, func() error, error) {
	if e.Path == "" {
		return &remote.Starter{Server: keys, Arguments: []string{EngineCommand}, Temp: temp}, end, nil
	}
	real, err := proxies.NewStarter(keys, e.Path, scripts.Describe(), temp)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return real, func() error { return errors.Join(end(), real.Close()) }, nil
}
