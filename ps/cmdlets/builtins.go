package cmdlets

// Builtin is a built-in command of PowerShell with the parameters that scripts use. It must not be modified.
type Builtin struct {
	Name  string
	Class string // short name of its class in Microsoft.PowerShell.Commands
	// Params is the content of param(...), as PowerShell would declare it.
	Params string
}

// Builtins lists the built-in commands that scripts use, and the target of echo,
// with which go-powershell marks the end of an answer. Windows PowerShell 5.1 has
// all of them (facts-5.1 I73). The engine implements exactly these.
func Builtins() []Builtin { return builtins }

var builtins = []Builtin{
	{"ConvertFrom-Json", "ConvertFromJsonCommand", `[Parameter(Mandatory,Position=0)][AllowEmptyString()][string]$InputObject`},
	{"ConvertTo-Json", "ConvertToJsonCommand",
		`[Parameter(Mandatory,Position=0)][AllowNull()][object]$InputObject,[Parameter()][int]$Depth,[Parameter()][switch]$Compress`},
	{"Export-ModuleMember", "ExportModuleMemberCommand", `[Parameter(Mandatory)][string[]]$Function`},
	{"ForEach-Object", "ForEachObjectCommand", `[Parameter(Mandatory,Position=0)][scriptblock]$Process,[Parameter()][AllowNull()][object]$InputObject`},
	{"Get-Command", "GetCommandCommand", `[Parameter(Mandatory,Position=0)][string]$Name`},
	{"Get-Module", "GetModuleCommand", `[Parameter(Position=0)][string[]]$Name,[Parameter()][switch]$ListAvailable`},
	{"Import-Module", "ImportModuleCommand", `[Parameter(Mandatory,Position=0)][string[]]$Name`},
	{"New-Object", "NewObjectCommand",
		`[Parameter(Mandatory,Position=0)][string]$TypeName,[Parameter(Position=1)][AllowNull()][Alias('Args')][object]$ArgumentList`},
	{"Out-Null", "OutNullCommand", `[Parameter()][AllowNull()][object]$InputObject`},
	{"Set-Item", "SetItemCommand", `[Parameter(Mandatory)][string]$LiteralPath,[Parameter(Mandatory)][object]$Value`},
	{"Write-Output", "WriteOutputCommand", `[Parameter(Mandatory,Position=0)][AllowNull()][AllowEmptyCollection()][object]$InputObject`},
}
