package natsstore

import (
	"crypto/tls"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
)

// Endpoint is where the engine is and who connects to it.
type Endpoint struct {
	Servers   []string
	TLS       *tls.Config // nil: the connection is not encrypted
	NKeyFile  string      // with the seed of the key of the gateway; empty: none
	CredsFile string      // with a JWT and its key; empty: none
}

// Connect connects to one of the nodes.
func (e Endpoint) Connect(more ...nats.Option) (*nats.Conn, error) {
	var options []nats.Option
	if e.TLS != nil {
		options = append(options, nats.Secure(e.TLS))
	}
	if e.CredsFile != "" {
		options = append(options, nats.UserCredentials(e.CredsFile))
	}
	if e.NKeyFile != "" {
		option, err := nats.NkeyOptionFromSeed(e.NKeyFile)
		if err != nil {
			return nil, fmt.Errorf("cluster.nkeyFile: %w", err)
		}
		options = append(options, option)
	}
	return nats.Connect(strings.Join(e.Servers, ","), append(options, more...)...)
}
