package config

import "fmt"

// adwsConnections is how many connections the directory's web service gives an account on
// one domain controller (MaxConnectionsPerUser; facts D19).
const adwsConnections = 5

// Advice returns sentences about settings that are allowed, but do not work well.
func (s *Settings) Advice() []string {
	var out []string
	if n := s.Pool.DirectorySessions; n > adwsConnections {
		out = append(out, fmt.Sprintf("pool.directorySessions is %d, but a domain controller gives an account %d connections unless its MaxConnectionsPerUser "+
			"was raised, and each session uses one at a time: the other sessions are refused, and their requests answered with 503. "+
			"Set at most %d, or fewer if a second gateway or the doctor runs with the same account", n, adwsConnections, adwsConnections))
	}
	return out
}
