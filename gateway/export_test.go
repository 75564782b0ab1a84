package gateway

// PolicyInUse returns the current policy.
func (s *Server) PolicyInUse() Policy { return s.current.Load().Policy }
