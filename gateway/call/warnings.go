package call

import "adgateway/gateway/changes"

// Codes of warnings about a change that was made. The audit has the first two, too.
const (
	// Raced marks a change that was made after another gateway had taken its call over.
	Raced = changes.RacedCode
	// NotReadBack marks a change whose object could not be read back.
	NotReadBack = "not_read_back"
	// NotInHistory marks a change that the history does not have yet, or not as it ended.
	NotInHistory = "history_unavailable"
)
