package engine

import (
	"strings"

	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine/dotnet"
)

// refusedAliases and refusedCommands are initial aliases and commands of PowerShell sessions that this engine
// does not have. An alias takes precedence over a function of the same name, so these aliases are always
// refused. A command is refused unless a function has its name.
var refusedAliases, refusedCommands = nameSet(`
% ? ac cat cd chdir clc clear clhy cli clp cls clv compare copy cp cpi cpp curl cvpa dbp del diff dir dnsn ebp echo epal epcsv
erase etsn exsn fc fhx fl foreach ft fw gal gbp gc gcb gci gcm gcs gdr gerr ghy gi gin gjb gl gm gmo gp gps gpv group gsn gsv gtz gu
gv gwmi h history icm iex ihy ii ipal ipcsv ipmo irm iwmi iwr kill ls man md measure mi mount move mp mv nal ndr ni nmo nsn nv
ogv oh popd ps pushd pwd r rbp rcjb rcsn rd rdr ren ri rjb rm rmdir rmo rni rnp rp rsn rv rvpa sajb sal saps sasv sbp scb select
set shcm si sl sleep sls sort sp spjb spps spsv start stz sv tee type wget where wjb write
`), nameSet(`
Add-Content Add-History Add-Member Add-Type Clear-Content Clear-History Clear-Host Clear-Item Clear-ItemProperty Clear-Variable
Compare-Object Convert-Path ConvertFrom-Csv ConvertFrom-SecureString ConvertFrom-StringData ConvertTo-Csv ConvertTo-Html
ConvertTo-SecureString ConvertTo-Xml Copy-Item Copy-ItemProperty Debug-Job Disable-PSBreakpoint Enable-PSBreakpoint Enter-PSSession
Exit-PSSession Export-Alias Export-Clixml Export-Csv Format-Custom Format-Hex Format-List Format-Table Format-Wide
Get-Acl Get-Alias Get-ChildItem Get-CimInstance Get-Clipboard Get-ComputerInfo Get-Content Get-Credential Get-Culture Get-Date Get-Error
Get-Event Get-ExecutionPolicy Get-FileHash Get-Help Get-History Get-Host Get-Item Get-ItemProperty Get-ItemPropertyValue Get-Job
Get-Location Get-Member Get-PSBreakpoint Get-PSCallStack Get-PSDrive Get-PSProvider Get-PSSession Get-Process Get-Random Get-Runspace
Get-Service Get-TimeZone Get-TypeData Get-UICulture Get-Unique Get-Uptime Get-Variable Get-Verb Get-WmiObject Group-Object Import-Alias
Import-Clixml Import-Csv Import-LocalizedData Import-PowerShellDataFile Invoke-CimMethod Invoke-Command Invoke-Expression
Invoke-History Invoke-Item Invoke-RestMethod Invoke-WebRequest Invoke-WmiMethod Join-Path Join-String Measure-Command Measure-Object
Move-Item Move-ItemProperty New-Alias New-CimSession New-Event New-Guid New-Item New-ItemProperty New-Module New-PSDrive
New-PSSession New-Service New-TemporaryFile New-TimeSpan New-Variable Out-Default Out-File Out-GridView Out-Host Out-Printer Out-String
Pop-Location Push-Location Read-Host Receive-Job Receive-PSSession Register-ObjectEvent Remove-Alias Remove-CimSession Remove-Event
Remove-Item Remove-ItemProperty Remove-Job Remove-Module Remove-PSDrive Remove-PSSession Remove-Variable Rename-Item
Rename-ItemProperty Resolve-Path Restart-Service Save-Help Select-Object Select-String Select-Xml Send-MailMessage Set-Alias
Set-Clipboard Set-Content Set-Date Set-ExecutionPolicy Set-ItemProperty Set-Location Set-PSDebug Set-Service Set-StrictMode Set-TimeZone
Set-Variable Show-Command Sort-Object Split-Path Start-Job Start-Process Start-Service Start-Sleep Start-Transcript Stop-Job
Stop-Process Stop-Service Stop-Transcript Tee-Object Test-Connection Test-Json Test-Path Trace-Command Unblock-File Unregister-Event
Update-Help Update-List Wait-Debugger Wait-Event Wait-Job Wait-Process Where-Object Write-Debug Write-Error Write-Host Write-Information
Write-Progress Write-Verbose Write-Warning prompt TabExpansion2 cmd powershell pwsh
`)

func nameSet(text string) map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(text) {
		names[strings.ToLower(name)] = true
	}
	return names
}

// commandNotFound returns the error for an unknown name: a refusal if a real PowerShell
// would know it, otherwise the error that it would report.
func commandNotFound(key, name string) error {
	if _, module, ok := strings.Cut(key, `\`); ok {
		key = module
	}
	if _, declared := cmdlets.Lookup(name); declared || refusedCommands[key] {
		return dotnet.Refuse("the command %s", name)
	}
	e := dotnet.NewException(exceptionType("System.Management.Automation.CommandNotFoundException"),
		"The term '"+name+
			"' is not recognized as a name of a cmdlet, function, script file, or executable program.\n"+
			"Check the spelling of the name, or if a path was included, verify that the path is correct and try again.")
	e.Props.Set("CommandName", name)
	rec := dotnet.NewError(e, "CommandNotFoundException", dotnet.ObjectNotFound, name)
	e.Record = rec
	return rec
}
