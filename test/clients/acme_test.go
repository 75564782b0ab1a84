// Package clients_test tests the gateway with programs that speak the third-party protocols which it
// supports, such as lego with an ACME authority and a client of acme-dns. It is a separate module, so that
// the product does not depend on these programs.
package clients_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cpu/goacmedns"
	"github.com/go-acme/lego/v4/certcrypto"
	"github.com/go-acme/lego/v4/certificate"
	"github.com/go-acme/lego/v4/challenge/dns01"
	"github.com/go-acme/lego/v4/lego"
	"github.com/go-acme/lego/v4/providers/dns/httpreq"
	"github.com/go-acme/lego/v4/registration"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/test/systemtest"
)

// nameServer serves the TXT records of the system's simulated zones and returns its
// address.
func nameServer(t *testing.T, s *systemtest.System) string {
	t.Helper()
	answer := func(w dns.ResponseWriter, question *dns.Msg) {
		reply := new(dns.Msg).SetReply(question)
		reply.Authoritative = true
		if q := question.Question[0]; q.Qtype == dns.TypeTXT {
			for _, text := range s.Texts(q.Name, "corp.example") {
				reply.Answer = append(reply.Answer,
					&dns.TXT{Hdr: dns.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: q.Qclass, Ttl: 60},
						Txt: []string{text}})
			}
		}
		_ = w.WriteMsg(reply) // the client may have left
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	streams, err := net.Listen("tcp", packets.LocalAddr().String())
	require.NoError(t, err)
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: dns.HandlerFunc(answer)},
		{Listener: streams, Handler: dns.HandlerFunc(answer)}} {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = server.ActivateAndServe() // returns when the connection is closed
		}()
		t.Cleanup(func() {
			_ = server.Shutdown()
			_ = packets.Close()
			_ = streams.Close()
			<-ended
		})
	}
	return packets.LocalAddr().String()
}

// authority starts an ACME authority that looks up names at resolver. It returns the URL of
// the authority's directory and a client that trusts its certificate.
func authority(t *testing.T, resolver string) (directory string, client *http.Client) {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	silent, store := log.New(io.Discard, "", 0), db.NewMemoryStore()
	issuer := ca.New(silent, store, "", "ecdsa", 0, 1,
		map[string]ca.Profile{"default": {Description: "the only one", ValidityPeriod: 3600}})
	front := wfe.New(silent, store, va.New(silent, 0, 0, false, resolver, store), issuer, nil, false, false, 1,
		1)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	return server.URL + wfe.DirectoryPath, server.Client()
}

// account is one of the authority's users.
type account struct {
	key          crypto.PrivateKey
	registration *registration.Resource
}

func (*account) GetEmail() string                          { return "" }
func (a *account) GetRegistration() *registration.Resource { return a.registration }
func (a *account) GetPrivateKey() crypto.PrivateKey        { return a.key }

// obtain gets a certificate for names from the authority through the gateway.
func obtain(t *testing.T, s *systemtest.System, resolver, mode string, names ...string) []*x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	user := &account{key: key}
	config := lego.NewConfig(user)
	config.Certificate.KeyType = certcrypto.EC256
	config.CADirURL, config.HTTPClient = authority(t, resolver)
	client, err := lego.NewClient(config)
	require.NoError(t, err)
	user.registration, err = client.Registration.Register(
		registration.RegisterOptions{TermsOfServiceAgreed: true})
	require.NoError(t, err)
	endpoint, err := url.Parse(s.URL + "/api/Acme/HttpReq")
	require.NoError(t, err)
	provider, err := httpreq.NewDNSProviderConfig(&httpreq.Config{
		Endpoint: endpoint, Mode: mode, Username: systemtest.AcmeUser, Password: systemtest.AcmeUser,
		PropagationTimeout: systemtest.Patience, PollingInterval: 10 * time.Millisecond,
		HTTPClient: &http.Client{Timeout: systemtest.Patience},
	})
	require.NoError(t, err)
	visible := dns01.WrapPreCheck(func(string, string, string, dns01.PreCheckFunc) (bool,
		error) {
		return true, nil
	})
	require.NoError(t, client.Challenge.SetDNS01Provider(provider,
		dns01.AddRecursiveNameservers([]string{resolver}), visible))
	obtained, err := client.Certificate.Obtain(certificate.ObtainRequest{Domains: names, Bundle: true})
	require.NoError(t, err)
	var chain []*x509.Certificate
	for block, rest := pem.Decode(obtained.Certificate); block != nil; block, rest = pem.Decode(rest) {
		one, err := x509.ParseCertificate(block.Bytes)
		require.NoError(t, err)
		chain = append(chain, one)
		t.Logf("%s %d: %s for %v by %s", mode, len(chain), one.Subject, one.DNSNames, one.Issuer)
	}
	return chain
}

// Lego obtains a certificate for a name and its wildcard in both modes of httpreq. The
// challenge needs two records at one name, and lego removes both.
func TestLegoObtainsCertificates(t *testing.T) {
	s := systemtest.NewForDNS(t)
	resolver := nameServer(t, s)
	for _, mode := range []string{"", "RAW"} {
		chain := obtain(t, s, resolver, mode, "site.corp.example", "*.site.corp.example")
		require.GreaterOrEqual(t, len(chain), 2)
		assert.ElementsMatch(t, []string{"site.corp.example", "*.site.corp.example"}, chain[0].DNSNames)
		for i := 1; i < len(chain); i++ {
			require.NoError(t, chain[i-1].CheckSignatureFrom(chain[i]))
		}
		assert.Empty(t, s.Texts("_acme-challenge.site.corp.example.", "corp.example"))
	}
}

// The client library of acme-dns updates the record of its account, and recognizes refusals.
func TestAcmeDNSClientUpdatesItsRecord(t *testing.T) {
	s := systemtest.NewForDNS(t, `acme.accounts=[{"subdomain":"c36f50e8","credential":"acme","name":"_acme-challenge.site.corp.example"}]`)
	client := goacmedns.NewClient(s.URL + "/api/Acme/AcmeDns")
	site := goacmedns.Account{FullDomain: "_acme-challenge.site.corp.example", SubDomain: "c36f50e8",
		Username: systemtest.AcmeUser, Password: systemtest.AcmeUser}
	one, two := strings.Repeat("1", 43), strings.Repeat("2", 43)
	require.NoError(t, client.UpdateTXTRecord(site, one))
	require.NoError(t, client.UpdateTXTRecord(site, two))
	assert.Equal(t, []string{one, two}, s.Texts(site.FullDomain, "corp.example"))
	assert.ErrorContains(t, client.UpdateTXTRecord(site, "short"), "400")
	site.Password = "wrong"
	assert.ErrorContains(t, client.UpdateTXTRecord(site, one), "401")
}
