package session_test

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"adgateway/ps"
	"adgateway/ps/session"
	"adgateway/ps/session/sessiontest"
)

// BenchmarkRun measures the overhead of a session for a request with one record, a change
// that announces itself and waits for the answer, a change that does not, and an answer of 4
// MiB, both within this process and through real pipes.
func BenchmarkRun(b *testing.B) {
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	b.Setenv(childVariable, "serve")
	withOffice := maps.Clone(sessiontest.Faults)
	withOffice["Set-GatewayOffice"] = setOffice
	for _, engine := range []struct {
		name    string
		starter session.Starter
	}{{"in process", &sessiontest.Process{Scripts: withOffice}}, {"real pipes", session.Local{Path: path}}} {
		s, err := session.Start(b.Context(), config(engine.starter))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(engine.name+"/one record", func(b *testing.B) {
			benchRequest(b, s, ps.Request{Script: "Get-GatewayEcho", Args: ps.Args{"UserName": ps.Text("jdoe")}})
		})
		for _, name := range []string{"Get-GatewayNothing", "Set-GatewayOffice"} {
			b.Run(engine.name+"/"+name,
				func(b *testing.B) { benchRequest(b, s, ps.Request{Script: name, Write: true}) })
		}
		b.Run(engine.name+"/4MiB", func(b *testing.B) {
			b.SetBytes(4 << 20)
			benchRequest(b, s, ps.Request{Script: "Get-GatewayMany",
				Args: ps.Args{"Batches": ps.Int(64), "Size": ps.Int(64 << 10)}})
		})
		if err := s.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRequest(b *testing.B, s *session.Session, req ps.Request) {
	req.Records = func(json.RawMessage) error { return nil }
	for b.Loop() {
		if _, err := s.Run(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// setOffice announces a change, waits for permission and makes it.
func setOffice(c *sessiontest.Call) {
	if c.Announce(`{"effect":"changed","objects":[{"account":"x","changes":[{"name":"office","before":"1","after":"2"}]}]}`) {
		c.Frame("end", `{"effect":"changed","warnings":[]}`)
		return
	}
	c.End()
}
