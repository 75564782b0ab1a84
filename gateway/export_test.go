package gateway

import "adgateway/gateway/call"

// Leads reports whether the gateway leads.
func (s *Server) Leads() bool { return s.here.Leads() }

// PolicyInUse returns the current policy of calls.
func (s *Server) PolicyInUse() call.Policy { return *s.current.Load() }
