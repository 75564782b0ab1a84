package ops

// Find returns the operation with the id, or nil.
func Find(table []*Operation, id string) *Operation {
	for _, op := range table {
		if op.ID == id {
			return op
		}
	}
	return nil
}
