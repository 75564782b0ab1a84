package gateway

// spoolShare returns how many bytes one caller may have in temporary files now: its share, or less if
// less is left on their disk.
func (s *Server) spoolShare() int64 {
	if s.SpoolRoom.Low() {
		return 0
	}
	most, _ := s.SpoolRoom.Share(s.SpoolMost)
	return most
}
