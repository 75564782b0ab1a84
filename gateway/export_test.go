package gateway

// PolicyInUse returns the policy that requests are served under.
func (s *Server) PolicyInUse() Policy { return s.current.Load().Policy }
