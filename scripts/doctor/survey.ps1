$survey = @{}
$survey['version'] = [string]$PSVersionTable.PSVersion
$survey['edition'] = [string]$PSVersionTable.PSEdition
$survey['languageMode'] = [string]$ExecutionContext.SessionState.LanguageMode
$survey['modules'] = @(Get-Module -ListAvailable -Name 'ActiveDirectory', 'DnsServer' | ForEach-Object -Process { [string]$_.Name + ' ' + [string]$_.Version })
'adgateway-survey ' + (ConvertTo-Json -InputObject $survey -Compress)
