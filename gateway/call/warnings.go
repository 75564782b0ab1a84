package call

// Codes of warnings about a change that was made.
const (
	// RacedCode: another gateway has settled the change before it was made.
	RacedCode = "raced"
	// NotReadBackCode: the object could not be read afterwards.
	NotReadBackCode = "not_read_back"
	// HistoryUnavailableCode: the history does not have the change yet, or not as it ended.
	HistoryUnavailableCode = "history_unavailable"
)
