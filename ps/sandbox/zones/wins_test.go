package zones_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/sandbox/zones"
)

// TestRecordsForWins: zone files with WINS records can be loaded. The records are stored in
// the form for unknown types.
func TestRecordsForWins(t *testing.T) {
	head := "; adgateway: zone=x.example\n@ 60 SOA a b 1 2 3 4 5\n@ NS a\n"
	for line, want := range map[string]string{
		"@  WINS  L2 C900 ( 10.0.0.5 )":                          `TYPE65281 \# 20 0000000002000000840300000100000` + `00a000005`,
		"@ 300 IN wins LOCAL L1 C60 (10.0.0.5\n  10.0.0.6 ) ; x": `TYPE65281 \# 24 0000010001000000` + `3c000000020000000a0000050a000006`,
		"@ WINSR LOCAL L2 C900 ( corp.example. )":                `TYPE65282 \# 26 000001000200000084030000` + `04636f7270076578616d706c6500`,
	} {
		st := three(t)
		text := []byte(head + line + "\nlast A 10.0.0.9\n")
		require.NoError(t, st.Load(zones.Source{Name: "x", Text: text}), line)
		all, err := open(t, st, "").Records("x.example", zones.Query{})
		require.NoError(t, err)
		texts := []string{}
		for _, r := range all {
			texts = append(texts, strings.Join(strings.Fields(r.RR.String()), " "))
		}
		assert.Contains(t, fmt.Sprint(texts), want, line)
		assert.Contains(t, fmt.Sprint(texts), "10.0.0.9", line)
	}
	for line, want := range map[string]string{
		"@ WINS L2 C900":           "x:4: WINS has no server",
		"@ WINS L2 ( 10.0.0.300 )": `x:4: WINS has the server "10.0.0.300", which is no IPv4 address`,
		"@ WINSR L2 C900":          "x:4: WINSR has one domain",
	} {
		assert.EqualError(t, three(t).Load(zones.Source{Name: "x", Text: []byte(head + line + "\n")}), want, line)
	}
}
