package zones

import "time"

// Statistics are a server's counts for a zone. No client queries a simulated server, so the number of queries
// is derived from the zone's name and never changes. The numbers of updates and transfers are 0.
type Statistics struct {
	Zone    string
	Since   time.Time
	Queries []QueryCount
}

// QueryCount counts the queries for one record type.
type QueryCount struct {
	Type               string
	Received, Answered uint64
}

// statisticsAge is the time for which a server has been counting.
const statisticsAge = 30 * 24 * time.Hour

// Statistics returns the statistics of a zone. It fails with CodeInvalidZoneType for a forwarder, which has
// none.
func (s *Server) Statistics(name string) (Statistics, error) {
	st := s.store
	st.mu.RLock()
	defer st.mu.RUnlock()
	z, err := s.open(OpGetStatistics, name)
	switch {
	case err != nil:
		return Statistics{}, err
	case z.Type == Forwarder:
		return Statistics{}, s.fail(OpGetStatistics, CodeInvalidZoneType, z.Name, "")
	}
	stats := Statistics{Zone: z.Name, Since: st.hour().Truncate(24 * time.Hour).Add(-statisticsAge)}
	seed := uint64(len(z.Name))
	for _, kind := range []string{"A", "AAAA", "PTR", "CNAME", "MX", "SRV", "NS", "SOA", "TXT", "OTHER", "ALL"} {
		seed = seed*31 + uint64(len(kind))
		received := seed % 97
		stats.Queries = append(stats.Queries,
			QueryCount{Type: kind, Received: received, Answered: received - received/10})
	}
	return stats, nil
}
