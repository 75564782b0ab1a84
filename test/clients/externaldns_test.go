package clients_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider"
	"sigs.k8s.io/external-dns/provider/webhook"
	"sigs.k8s.io/external-dns/registry"
	"sigs.k8s.io/external-dns/registry/txt"

	"adgateway/test/systemtest"
)

// externalDNS is ExternalDNS without Kubernetes: its webhook client, its registry of
// ownership in TXT records, and its planner.
type externalDNS struct {
	t        *testing.T
	registry registry.Registry
}

func newExternalDNS(t *testing.T, s *systemtest.System) *externalDNS {
	t.Helper()
	user := systemtest.ClusterUser
	config := externaldns.NewConfig()
	config.WebhookProviderURL = strings.Replace(s.URL, "://", "://"+user+":"+user+"@", 1) + "/api/ExternalDns"
	config.WebhookProviderReadTimeout, config.WebhookProviderWriteTimeout = systemtest.Patience, systemtest.Patience
	config.TXTOwnerID = "cluster"
	config.ManagedDNSRecordTypes = []string{"A", "AAAA", "CNAME", "TXT", "SRV", "MX"}
	client, err := webhook.New(t.Context(), config, nil)
	require.NoError(t, err, "negotiation")
	owned, err := txt.New(config, client)
	require.NoError(t, err)
	return &externalDNS{t, owned}
}

// loop runs the controller's loop once and returns the planned changes.
func (e *externalDNS) loop(desired ...*endpoint.Endpoint) *plan.Changes {
	e.t.Helper()
	current, err := e.registry.Records(e.t.Context())
	require.NoError(e.t, err)
	ctx := context.WithValue(e.t.Context(), provider.RecordsContextKey, current)
	adjusted, err := e.registry.AdjustEndpoints(desired)
	require.NoError(e.t, err)
	planned := (&plan.Plan{
		Policies: []plan.Policy{&plan.SyncPolicy{}}, Current: current, Desired: adjusted,
		DomainFilter:   endpoint.MatchAllDomainFilters{e.registry.GetDomainFilter()},
		ManagedRecords: []string{"A", "AAAA", "CNAME", "TXT", "SRV", "MX"}, OwnerID: e.registry.OwnerID(),
	}).Calculate()
	e.t.Logf("plan: create %d, update %d, delete %d", len(planned.Changes.Create),
		len(planned.Changes.UpdateNew), len(planned.Changes.Delete))
	if planned.Changes.HasChanges() {
		require.NoError(e.t, e.registry.ApplyChanges(ctx, planned.Changes))
	}
	return planned.Changes
}

// wanted returns endpoints as Kubernetes sources describe them, including properties that
// Windows cannot store.
func wanted() []*endpoint.Endpoint {
	a := endpoint.NewEndpointWithTTL("app.corp.example", "A", 300, "10.0.9.1", "10.0.9.2")
	a.ProviderSpecific = endpoint.ProviderSpecific{{Name: "aws/evaluate-target-health", Value: "true"}}
	return []*endpoint.Endpoint{
		a,
		endpoint.NewEndpoint("app.corp.example", "AAAA", "2001:0db8:0::9"),
		endpoint.NewEndpointWithTTL("Alias.corp.example", "CNAME", 60, "App.corp.example."),
		endpoint.NewEndpoint("note.corp.example", "TXT", `"quoted text"`),
		endpoint.NewEndpoint("_sip._udp.corp.example", "SRV", "0 5 5060 app.corp.example."),
		endpoint.NewEndpoint("post.corp.example", "MX", "10 app.corp.example"),
	}
}

// The first loop creates the records, the second finds nothing to do, and the third removes
// the records. Records that others have created at the same names remain.
func TestThreeLoopsOfExternalDNS(t *testing.T) {
	s := systemtest.NewForDNS(t)
	foreign := func(name, address string) {
		answer := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/DnsARecord",
			Params: map[string]any{"DNS_HostName": name, "IP_Address": address, "ZoneName": "corp.example"}})
		require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)
	}
	foreign("other", "10.0.9.50")
	e := newExternalDNS(t, s)
	before, err := e.registry.Records(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"corp.example"}, filters(e))

	first := e.loop(wanted()...)
	assert.Len(t, first.Create, len(wanted()))
	// An administrator adds a record at the same name.
	answer := s.Do(systemtest.Call{Method: http.MethodPost, Path: "/api/DnsTxtRecord",
		Params: map[string]any{"DNS_HostName": "a-app", "Text": "an administrator's note",
			"ZoneName": "corp.example"}})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Body)

	second := e.loop(wanted()...)
	assert.False(t, second.HasChanges(), "%+v", second)

	changed := wanted()
	changed[0].Targets = endpoint.Targets{"10.0.9.2", "10.0.9.3"}
	changed[2].Targets = endpoint.Targets{"elsewhere.corp.example"}
	update := e.loop(changed...)
	assert.Len(t, update.UpdateNew, 2)
	assert.False(t, e.loop(changed...).HasChanges())

	foreign("app", "10.0.9.99")
	third := e.loop()
	assert.Len(t, third.Delete, len(wanted()))
	after, err := e.registry.Records(t.Context())
	require.NoError(t, err)
	left := map[string]bool{}
	for _, one := range after {
		left[fmt.Sprint(one.DNSName, " ", one.RecordType, " ", one.Targets)] = true
	}
	for _, one := range before {
		assert.True(t, left[fmt.Sprint(one.DNSName, " ", one.RecordType, " ", one.Targets)], "%s %s", one.DNSName,
			one.RecordType)
	}
	assert.NotContains(t, left, "alias.corp.example CNAME [elsewhere.corp.example]")
	assert.Equal(t, []string{"an administrator's note"}, s.Texts("a-app.corp.example", "corp.example"))
}

func filters(e *externalDNS) []string {
	filter, isFilter := e.registry.GetDomainFilter().(*endpoint.DomainFilter)
	if !isFilter {
		return nil
	}
	return filter.Filters
}
