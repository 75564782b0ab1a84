package story

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/schema"
	"adgateway/ps/sandbox"
	"adgateway/test/systemtest"
)

// with returns a copy of params in which further parameters are set. more alternates names and values.
func with(params map[string]any, more ...any) map[string]any {
	all := maps.Clone(params)
	for i := 0; i+1 < len(more); i += 2 {
		all[more[i].(string)] = more[i+1]
	}
	return all
}

// TestTheLifeOfARecord: a record of each type can be created, created again, created next to
// another value, changed and removed. It is refused in zones that do not allow the type.
func TestTheLifeOfARecord(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	for _, kind := range schema.RecordTypes {
		if kind.Resource == "" {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			s, path := s.In(t), "/api/"+kind.Path
			call := func(method string, params map[string]any) systemtest.Call {
				return systemtest.Call{Method: method, Path: path, Params: params}
			}
			one := with(systemtest.RecordOf(kind), "DNS_HostName", kind.Another)
			other, change := maps.Clone(one), maps.Clone(one)
			for _, f := range kind.Fields {
				if f.Changed != "" {
					other[f.Name], change["New"+f.Name] = f.Changed, f.Changed
				}
			}
			set := map[string]any{"ZoneName": kind.Zone, "DNS_HostName": kind.Another, "Type": kind.Name}
			data := func() any {
				return s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsRecordSet", Params: set},
					http.StatusOK)["data"]
			}

			s.Rejects(call(http.MethodGet, one), 404, "not_found")
			created := s.OK(call(http.MethodPost, one), http.StatusCreated)
			assert.Equal(t, created, s.OK(call(http.MethodGet, one), http.StatusOK))
			s.Rejects(call(http.MethodPost, one), 409, "conflict")
			if kind.Alone {
				s.Rejects(call(http.MethodPost, other), 409, "conflict")
			} else {
				s.OK(call(http.MethodPost, other), http.StatusCreated)
				assert.Len(t, data(), 2)
				s.Rejects(call(http.MethodPut, change), 409, "conflict") // another record has the value
				s.OK(call(http.MethodDelete, other), http.StatusOK)
			}
			assert.Len(t, data(), 1)
			s.Rejects(call(http.MethodPut, one), 400, "invalid_request") // no new value is given
			s.OK(call(http.MethodPut, with(one, "TimeToLive", 120)), http.StatusOK)
			s.OK(call(http.MethodPut, change), http.StatusOK)
			s.Rejects(call(http.MethodGet, one), 404, "not_found")
			s.OK(call(http.MethodGet, other), http.StatusOK)
			assert.EqualValues(t, 120, s.OK(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsRecordSet",
				Params: set}, http.StatusOK)["ttl"], "the time to live stays")
			s.OK(call(http.MethodDelete, other), http.StatusOK)
			s.Rejects(call(http.MethodDelete, other), 404, "not_found")
			s.Rejects(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsRecordSet", Params: set}, 404,
				"not_found")

			missing := "nowhere.example"
			if kind.Reverse {
				missing = "200.in-addr.arpa"
			}
			s.Rejects(call(http.MethodPost, with(one, "ZoneName", missing)), 404, "not_found")
			s.Rejects(call(http.MethodPost, with(one, "DNS_HostName", "x.other.example.")), 422, "unprocessable")
			s.Rejects(call(http.MethodPost, with(one, "TimeToLive", -1)), 400, "invalid_request")
			s.Rejects(call(http.MethodPost, with(one, "TimeToLive", 2147483648)), 400, "invalid_request")
			s.Rejects(call(http.MethodPost, with(one, "DNS_HostName", "*")).As(systemtest.PlainToken), 403,
				"forbidden")
			for _, field := range kind.Fields {
				switch field.Form {
				case schema.NameForm:
					s.Rejects(call(http.MethodPost, with(one, field.Name, "10.0.0.1")), 422, "unprocessable")
				case schema.AddressForm:
					s.Rejects(call(http.MethodPost, with(one, field.Name, "not.an.address")), 400, "invalid_request")
				case schema.NumberForm:
					s.Rejects(call(http.MethodPost, with(one, field.Name, 65536)), 400, "invalid_request")
				}
			}
		})
	}
}

// TestRecordSetsMatchAModel: sets of records always match a model while they are put, read and removed in
// random order.
func TestRecordSetsMatchAModel(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	values := map[string][]string{
		"A":    {"10.9.0.1", "10.9.0.2", "10.9.0.3", "10.9.0.4"},
		"AAAA": {"2001:db8::1", "2001:db8::2", "2001:db8::3"},
		"TXT":  {"one", "two, with a comma", "Three", "three"},
		"MX":   {"10 mail1.corp.example", "20 mail2.corp.example"},
	}
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	type put struct {
		data []string
		ttl  int
	}
	model := map[string]put{}
	for step := range 60 {
		kind := []string{"A", "AAAA", "TXT", "MX"}[random.IntN(4)]
		id := map[string]any{"ZoneName": "corp.example", "DNS_HostName": fmt.Sprintf("model%d", random.IntN(2)),
			"Type": kind}
		name := fmt.Sprint(id["DNS_HostName"], kind)
		if random.IntN(4) == 0 {
			status := http.StatusOK
			if _, there := model[name]; !there {
				status = http.StatusNotFound
			}
			a := s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/DnsRecordSet", Params: id})
			require.Equal(t, status, a.Status, "step %d (seed %d): %s", step, seed, a.Body)
			delete(model, name)
		} else {
			all := slices.Clone(values[kind])
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			wanted := put{all[:1+random.IntN(len(all))], 60 * (1 + random.IntN(5))}
			a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/DnsRecordSet",
				Params: with(id, "Data", wanted.data, "TimeToLive", wanted.ttl)})
			require.Less(t, a.Status, 300, "step %d (seed %d): %s", step, seed, a.Body)
			model[name] = wanted
		}
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsRecordSet", Params: id})
		if wanted, there := model[name]; there {
			record := s.Record(a)
			assert.ElementsMatch(t, wanted.data, record["data"], "step %d (seed %d)", step, seed)
			assert.EqualValues(t, wanted.ttl, record["ttl"])
		} else {
			assert.Equal(t, http.StatusNotFound, a.Status)
		}
	}
}

// TestPTRRecordsGoWithAddresses: a PTR record is created and removed together with its address. If this is
// impossible, the call fails before anything is changed.
func TestPTRRecordsGoWithAddresses(t *testing.T) {
	s := systemtest.New(t, sandbox.Options{Seed: 1})
	const path = "/api/DnsARecord"
	host := func(name, address string, more ...any) map[string]any {
		return with(map[string]any{"ZoneName": "corp.example", "DNS_HostName": name, "IP_Address": address},
			more...)
	}
	pointer := func(address, target string, status int) {
		t.Helper()
		a := s.Do(systemtest.Call{Method: http.MethodGet, Path: "/api/DnsPtrRecord",
			Params: map[string]any{"IP_Address": address, "DNS_TargetName": target}})
		assert.Equal(t, status, a.Status, "%s", a.Body)
	}
	created := s.Do(systemtest.Call{Method: http.MethodPost, Path: path,
		Params: host("with-ptr", "10.0.7.7", "CreatePtr", true)})
	require.Equal(t, http.StatusCreated, created.Status, "%s", created.Body)
	assert.Contains(t, created.Envelope.Output, "was created together with '7.7.0.10.in-addr.arpa'.")
	pointer("10.0.7.7", "with-ptr.corp.example", http.StatusOK)
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: path,
		Params: host("other", "10.0.7.7", "CreatePtr", true)}, 409, "conflict")
	s.Rejects(systemtest.Call{Method: http.MethodPost, Path: path,
		Params: host("other", "198.51.100.7", "CreatePtr", true)}, 422, "unprocessable")
	s.OK(systemtest.Call{Method: http.MethodDelete, Path: path,
		Params: host("with-ptr", "10.0.7.7", "RemovePtr", true)}, http.StatusOK)
	pointer("10.0.7.7", "with-ptr.corp.example", http.StatusNotFound)
	s.OK(systemtest.Call{Method: http.MethodPost, Path: path, Params: host("lonely", "10.0.7.8")},
		http.StatusCreated)
	a := s.Do(systemtest.Call{Method: http.MethodDelete, Path: path,
		Params: host("lonely", "10.0.7.8", "RemovePtr", true)})
	assert.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	assert.Len(t, a.Envelope.Warnings, 1, "there was no PTR record")
}

// TestChangesOfAddressesKeepTheirPTRRecords: after a change of an address record, its PTR record exists,
// whether or not the server removes the PTR record during the change.
func TestChangesOfAddressesKeepTheirPTRRecords(t *testing.T) {
	for keeps, warnings := range map[bool]int{true: 0, false: 1} {
		s := systemtest.New(t, sandbox.Options{Seed: 1, SetKeepsPTR: keeps})
		address := map[string]any{"ZoneName": "corp.example", "DNS_HostName": "with-ptr", "IP_Address": "10.0.7.7"}
		s.OK(systemtest.Call{Method: http.MethodPost, Path: "/api/DnsARecord",
			Params: with(address, "CreatePtr", true)}, http.StatusCreated)
		a := s.Do(systemtest.Call{Method: http.MethodPut, Path: "/api/DnsARecord",
			Params: with(address, "TimeToLive", 120)})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
		assert.Len(t, a.Envelope.Warnings, warnings, "keeps %v: %s", keeps, a.Body)
		pointer := systemtest.Call{Method: http.MethodGet, Path: "/api/DnsPtrRecord",
			Params: map[string]any{"IP_Address": "10.0.7.7", "DNS_TargetName": "with-ptr.corp.example"}}
		s.OK(pointer, http.StatusOK)
	}
}
