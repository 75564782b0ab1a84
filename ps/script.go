package ps

// Script is the declaration at the beginning of a script. scripts.Describe returns it, so that the operation
// table can be checked against the script.
type Script struct {
	Name     string // name of the function in a session, such as "Get-GatewayUser"
	File     string // such as "ad/Get-GatewayUser.ps1"
	Lane     Lane
	Params   []Param
	Commands []string // cmdlets of the two modules that it calls, directly or through the prelude
	Writes   bool     // one of Commands changes something
}

// Param is one parameter of a script.
type Param struct {
	Name      string
	Type      string // in lower case: "string", "string[]", "bool", "int", "securestring"
	Mandatory bool
}

// Param returns the parameter with exactly this name.
func (s Script) Param(name string) (Param, bool) {
	for _, p := range s.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

// Source is the text of a script for sessions to load.
type Source struct {
	Name string
	Text string
}
