package hostile

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/ops"
	"adgateway/gateway/schema"
	"adgateway/test/systemtest"
)

const setPath = "/api/DnsRecordSet"

// typeOf returns the record type of an operation, or nil if it has none.
func typeOf(op *ops.Operation) *schema.RecordType {
	resource, _, _ := strings.Cut(op.ID, ".")
	if resource == "recordSet" {
		return schema.RecordTypeNamed(systemtest.Text(op.Sample["Type"]))
	}
	at := slices.IndexFunc(schema.RecordTypes,
		func(t *schema.RecordType) bool { return t.Resource == resource && resource != "" })
	if at < 0 {
		return nil
	}
	return schema.RecordTypes[at]
}

// recordOf returns the call that restores the set of records that the sample of an operation
// changes, or nil if the sample changes no existing record.
func recordOf(s *systemtest.System, op *ops.Operation) *systemtest.Call {
	kind, sample := typeOf(op), op.Sample
	if kind == nil || !op.Effect.Writes() || op.Effect.Creates() {
		return nil
	}
	set := map[string]any{"ZoneName": sample["ZoneName"], "DNS_HostName": sample["DNS_HostName"],
		"Type": kind.Name}
	a := s.Do(systemtest.Call{Method: http.MethodGet, Path: setPath, Params: set})
	if a.Status != http.StatusOK {
		return nil // the sample creates the set first
	}
	set["Data"], set["TimeToLive"], set["MakeStatic"] = a.Envelope.Result[0]["data"], a.Envelope.Result[0]["ttl"], true
	return &systemtest.Call{Method: http.MethodPut, Path: setPath, Params: set}
}

// storedRecords returns the checks of the operations on records.
func storedRecords() map[string]storedCheck {
	checks := map[string]storedCheck{}
	for _, op := range ops.Table() {
		switch kind := typeOf(op); {
		case kind == nil:
		case op.Effect.Creates():
			checks[op.ID] = storedRecord(kind)
		case op.Effect.Writes():
			checks[op.ID] = changedRecord
		}
	}
	return checks
}

// storedRecord looks up the new record that the answer shows, and removes the record.
func storedRecord(kind *schema.RecordType) storedCheck {
	return func(s *systemtest.System, _ *guard, p *ops.Param, name, value string, a systemtest.Answer) {
		record := s.Record(a)
		fields, problem := kind.Parse(systemtest.Text(record["data"]))
		require.Nil(s.T, problem, name)
		params := map[string]any{"DNS_HostName": record["name"], "ZoneName": record["zone"]}
		for i, field := range kind.Fields {
			params[field.Name] = fields[i]
			if field.Name == p.Name && value != "" && fields[i] != value { // the case of a name may differ
				short := strings.TrimSuffix(fields[i], "."+systemtest.Text(record["zone"]))
				assert.Equal(s.T, strings.ToLower(strings.TrimSuffix(value, ".")), strings.ToLower(short), name)
			}
		}
		if kind.Address {
			params["RemovePtr"] = true
		}
		removed := s.Do(systemtest.Call{Method: http.MethodDelete, Path: "/api/" + kind.Path, Params: params})
		require.Equal(s.T, http.StatusOK, removed.Status, "%s: %s", name, removed.Body)
	}
}

// changedRecord restores the set of records that was changed.
func changedRecord(s *systemtest.System, g *guard, p *ops.Param, name, value string, a systemtest.Answer) {
	if p.Name == "DNS_HostName" && value != "" { // a set with that name was created
		record := s.Record(a)
		removed := s.Do(systemtest.Call{Method: http.MethodDelete, Path: setPath,
			Params: map[string]any{"ZoneName": record["zone"], "DNS_HostName": record["name"],
				"Type": record["type"]}})
		require.Equal(s.T, http.StatusOK, removed.Status, "%s: %s", name, removed.Body)
	}
	if g.record != nil {
		restored := s.Do(*g.record)
		require.Less(s.T, restored.Status, 300, "%s: %s", name, restored.Body)
	}
	for _, line := range g.base.Compare(s.Snapshot()) {
		assert.Contains(s.T, line, systemtest.Text(s.Record(a)["zone"]), name)
	}
	g.base = s.Snapshot()
}
