package ps

// Script is what a script's own text declares; scripts.Describe makes it, so
// that rows of the operation table can be checked against it.
type Script struct {
	Name     string // the function a session knows it by: "Get-GatewayUser"
	File     string // "ad/Get-GatewayUser.ps1"
	Lane     Lane
	Params   []Param
	Commands []string // cmdlets of the two modules that it calls, through the prelude too
	Writes   bool     // one of them changes something
}

// Param is one parameter of a script.
type Param struct {
	Name      string
	Type      string // as written, in lower case: "string", "string[]", "bool", "int", "securestring"
	Mandatory bool
}

// Param returns the parameter of that exact name.
func (s Script) Param(name string) (Param, bool) {
	for _, p := range s.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

// Source is a script's text, for sessions to load.
type Source struct {
	Name string
	Text string
}
