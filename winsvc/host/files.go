package host

// Files keeps files with credentials from other accounts of this computer.
type Files struct {
	Service string // name of the Windows service whose account may use them, too
}
