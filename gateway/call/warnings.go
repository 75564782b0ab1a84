package call

// Codes of warnings about a change that was made, which the audit has, too.
const (
	// Raced marks a change that was made after another gateway had taken its call over.
	Raced = "raced"
	// NotReadBack marks a change whose object could not be read back.
	NotReadBack = "not_read_back"
)
