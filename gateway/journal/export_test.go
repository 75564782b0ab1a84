package journal

// Sealed seals a plain message as a log with these options would.
func Sealed(o Options, plain []byte) []byte {
	return o.Cipher.Seal(plain, New(nil, nil, o).bound)
}

// Opened is the inverse of Sealed.
func Opened(o Options, sealed []byte) ([]byte, error) {
	return o.Cipher.Open(sealed, New(nil, nil, o).bound)
}
