package store

// Renew makes the file another store than those that are or were copies of it: with a new
// identity. The file decides changes, and nobody else uses it meanwhile.
func (f *File) Renew() error {
	f.mu.Lock()
	refused := f.refusal()
	f.mu.Unlock()
	if refused != nil {
		return refused
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.putRecent(); err != nil {
		return closed(err)
	}
	creation, err := recreate(f.db, 0)
	if err != nil {
		return closed(err)
	}
	f.creation, f.head.Creation = creation, creation
	return f.writeHead()
}
