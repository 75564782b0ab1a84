package ops

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAWrongRecordIsNamed: a request of ExternalDNS has thousands of records, so a problem says which one is
// wrong, without its values.
func TestAWrongRecordIsNamed(t *testing.T) {
	for sent, want := range map[string]string{
		`{"dnsName":"www.corp.example","recordType":"A","targets":["10.0.0.999"]}`: `The record "www.corp.example" has a target that must be an IPv4 address such as 10.0.0.53.`,
		`{"dnsName":"www.corp.example","recordType":"ANY","targets":["x"]}`:        `The record "www.corp.example" has the type ANY, which cannot be written here.`,
		`{"dnsName":"www.corp.example","targets":["x"]}`:                           `The record "www.corp.example" has the type "", which cannot be written here.`,
		`{"dnsName":"a\u0000b","recordType":"A","targets":["10.0.0.9"]}`:           `The record "a\x00b" has a dnsName that must not contain a NUL character.`,
	} {
		var changes endpointChanges
		require.NoError(t, json.Unmarshal([]byte(`{"create":[`+sent+`]}`), &changes))
		_, problem := changes.setChanges()
		require.NotNil(t, problem, sent)
		assert.Equal(t, want, problem.Message)
	}
}
