package cmdlets

import (
	"strings"
	"sync"
)

// AliasTarget returns the command that an alias of PowerShell stands for. In PowerShell an
// alias takes precedence over a function of the same name.
func AliasTarget(name string) (target string, ok bool) {
	target, ok = aliases()[strings.ToLower(name)]
	return target, ok
}

var aliases = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, pair := range strings.Fields(aliasTable) {
		alias, target, _ := strings.Cut(pair, "=")
		out[alias] = target
	}
	return out
})

// aliasTable lists the predefined aliases of PowerShell in lower case.
const aliasTable = `
%=ForEach-Object ?=Where-Object ac=Add-Content cat=Get-Content cd=Set-Location chdir=Set-Location clc=Clear-Content
clear=Clear-Host clhy=Clear-History cli=Clear-Item clp=Clear-ItemProperty cls=Clear-Host clv=Clear-Variable
compare=Compare-Object copy=Copy-Item cp=Copy-Item cpi=Copy-Item cpp=Copy-ItemProperty curl=Invoke-WebRequest
cvpa=Convert-Path dbp=Disable-PSBreakpoint del=Remove-Item diff=Compare-Object dir=Get-ChildItem dnsn=Disconnect-PSSession
ebp=Enable-PSBreakpoint echo=Write-Output epal=Export-Alias epcsv=Export-Csv erase=Remove-Item etsn=Enter-PSSession
exsn=Exit-PSSession fc=Format-Custom fhx=Format-Hex fl=Format-List foreach=ForEach-Object ft=Format-Table fw=Format-Wide
gal=Get-Alias gbp=Get-PSBreakpoint gc=Get-Content gcb=Get-Clipboard gci=Get-ChildItem gcm=Get-Command gcs=Get-PSCallStack
gdr=Get-PSDrive gerr=Get-Error ghy=Get-History gi=Get-Item gin=Get-ComputerInfo gjb=Get-Job gl=Get-Location gm=Get-Member
gmo=Get-Module gp=Get-ItemProperty gps=Get-Process gpv=Get-ItemPropertyValue group=Group-Object gsn=Get-PSSession
gsv=Get-Service gtz=Get-TimeZone gu=Get-Unique gv=Get-Variable gwmi=Get-WmiObject h=Get-History history=Get-History
icm=Invoke-Command iex=Invoke-Expression ihy=Invoke-History ii=Invoke-Item ipal=Import-Alias ipcsv=Import-Csv
ipmo=Import-Module irm=Invoke-RestMethod iwmi=Invoke-WmiMethod iwr=Invoke-WebRequest kill=Stop-Process ls=Get-ChildItem
man=Get-Help md=New-Item measure=Measure-Object mi=Move-Item mount=New-PSDrive move=Move-Item mp=Move-ItemProperty
mv=Move-Item nal=New-Alias ndr=New-PSDrive ni=New-Item nmo=New-Module nsn=New-PSSession nv=New-Variable ogv=Out-GridView
oh=Out-Host popd=Pop-Location ps=Get-Process pushd=Push-Location pwd=Get-Location r=Invoke-History rbp=Remove-PSBreakpoint
rcjb=Receive-Job rcsn=Receive-PSSession rd=Remove-Item rdr=Remove-PSDrive ren=Rename-Item ri=Remove-Item rjb=Remove-Job
rm=Remove-Item rmdir=Remove-Item rmo=Remove-Module rni=Rename-Item rnp=Rename-ItemProperty rp=Remove-ItemProperty
rsn=Remove-PSSession rv=Remove-Variable rvpa=Resolve-Path sajb=Start-Job sal=Set-Alias saps=Start-Process sasv=Start-Service
sbp=Set-PSBreakpoint scb=Set-Clipboard select=Select-Object set=Set-Variable shcm=Show-Command si=Set-Item sl=Set-Location
sleep=Start-Sleep sls=Select-String sort=Sort-Object sp=Set-ItemProperty spjb=Stop-Job spps=Stop-Process spsv=Stop-Service
start=Start-Process stz=Set-TimeZone sv=Set-Variable tee=Tee-Object type=Get-Content wget=Invoke-WebRequest where=Where-Object
wjb=Wait-Job write=Write-Output
`
