package store

// Renew gives the file a new identity, so that it becomes a different store from its copies. The file must
// decide changes, and must not be in use otherwise.
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
