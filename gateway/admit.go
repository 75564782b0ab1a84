package gateway

// uncorrected logs that what a call has spent could not be corrected.
func (s *Server) uncorrected(r *request, err error) {
	if err != nil {
		s.Log.WithError(err).WithField("request_id", r.id).
			Error("what a call has spent of the hourly limits of its credential could not be corrected")
	}
}
