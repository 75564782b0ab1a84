package test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"adgateway/ps/sim/remote"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// faultLimit bounds how long a request may take whose process fails.
const faultLimit = 5 * time.Second

// faultStatus is what is answered to a read, a write and a list when it is not
// 502: the process is no longer there, or what it says breaks the protocol.
var faultStatus = map[string][3]int{
	// Requests for what does not exist, answered as without the fault.
	"late": {404, 404, 404}, "noise": {404, 404, 404}, "drip": {404, 404, 404}, "stderr-flood": {404, 404, 404},
	// Answers of the protocol's form that are errors.
	"Get-GatewayMissing": {404, 404, 404}, "New-GatewayHalf": {422, 422, 422},
	// Answers of the protocol's form that do not fit the operation.
	"Get-GatewayDrip": {500, 500, 500}, "Get-GatewayEcho": {500, 500, 500}, "Get-GatewayNoise": {500, 500, 500},
	"New-GatewayThing": {500, 500, 500}, "Send-GatewayFlood": {500, 500, 500},
	// Answers without a record: a list may be empty.
	"Get-GatewayMany": {500, 500, 200}, "Get-GatewayNothing": {500, 500, 200}, "Get-GatewayStderrFlood": {500, 500, 200},
	"Send-GatewayTwice": {500, 500, 200}, "Stop-GatewayAfterEnd": {500, 500, 200},
	// Silence.
	"Wait-GatewayAfterStep": {504, 504, 504}, "Wait-GatewayForever": {504, 504, 504}, "Wait-GatewayInsideFrame": {504, 504, 504},
}

// A process that fails in any way while it serves a read, a write or a list
// gives a documented status in time; the next request is served, and nothing
// is left.
func TestEveryFaultOfAProcess(t *testing.T) {
	before := goleak.IgnoreCurrent()
	names := remote.RequestFaults()
	var switches []string
	for i, name := range names {
		switches = append(switches, fmt.Sprintf("%s@fault%02dx", name, i))
	}
	t.Run("faults", func(t *testing.T) {
		p := &processes{faults: func() string { return strings.Join(switches, ",") }}
		s := p.system(t, "http.readTimeout=1s", "http.writeTimeout=1s", "http.listTimeout=1s")
		for i, name := range names {
			marker := fmt.Sprintf("fault%02dx", i)
			want, ok := faultStatus[name]
			if !ok {
				want = [3]int{502, 502, 502}
			}
			for kind, c := range []call{
				{method: http.MethodGet, path: "/api/ADUser/" + marker + "/Details"},
				{method: http.MethodDelete, path: "/api/ADUser/" + marker},
				{method: http.MethodGet, path: "/api/ADUser/ListUsers?OUPath=OU=" + marker + ",DC=corp,DC=example"},
			} {
				t.Run(name+"/"+[]string{"read", "write", "list"}[kind], func(t *testing.T) {
					s := s.in(t)
					start := time.Now()
					a := s.do(c)
					assert.Less(t, time.Since(start), faultLimit)
					assert.Equal(t, want[kind], a.status, "%.300s", a.body)
					next := s.get("/api/ADUser/aschmidt/Details")
					require.Equal(t, http.StatusOK, next.status, "%s", next.body)
				})
			}
		}
	})
	noGoroutineIsLeft(t, before)
}
