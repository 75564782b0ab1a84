package tlscert

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync"
)

// Connection is a connection of a listener that reports whether this side has closed it. While a client with
// a certificate is connected by a Connection, the connection is closed once the certificate is revoked.
type Connection interface {
	net.Conn
	Closed() bool
}

// clients are the open connections of clients with certificates. TLS checks a certificate only when the
// client connects.
type clients struct {
	mu    sync.Mutex
	all   map[Connection][][]*x509.Certificate // the verified chains
	ended int                                  // revocation lists that had ended at the last review
}

// watch returns the configuration for one connection, which is registered once its certificate was verified.
func (c *clients) watch(config *tls.Config, connection net.Conn) *tls.Config {
	watched, ok := connection.(Connection)
	if !ok || config.VerifyPeerCertificate == nil {
		return config
	}
	config = config.Clone()
	config.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.VerifiedChains) > 0 {
			c.enter(watched, s.VerifiedChains)
		}
		return nil
	}
	return config
}

func (c *clients) enter(connection Connection, chains [][]*x509.Certificate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for before := range c.all {
		if before.Closed() {
			delete(c.all, before)
		}
	}
	if c.all == nil {
		c.all = map[Connection][][]*x509.Certificate{}
	}
	c.all[connection] = chains
}

// review closes the connections of clients that are refused by the current lists. It verifies signatures, so
// it does nothing unless the lists have changed or one more of them has ended.
func (c *clients) review(lists *revocationLists, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ended := 0
	for _, list := range lists.lists {
		if lists.ended(list) {
			ended++
		}
	}
	if !changed && ended == c.ended {
		return
	}
	c.ended = ended
	for connection, chains := range c.all {
		if lists.verify(nil, chains) != nil {
			_ = connection.Close() // the server notices the closed connection
			delete(c.all, connection)
		}
	}
}
