# New-AdgClient returns the client of a connection. Windows PowerShell loads the library on demand.
function New-AdgClient {
    [CmdletBinding()]
    param([hashtable] $Options)
    if ($PSVersionTable.PSEdition -ne 'Core') {
        Add-Type -AssemblyName System.Net.Http
        # Windows PowerShell on Windows Server 2016 does not offer it by itself.
        [System.Net.ServicePointManager]::SecurityProtocol = [System.Net.ServicePointManager]::SecurityProtocol -bor [System.Net.SecurityProtocolType]::Tls12
    }
    $handler = [System.Net.Http.HttpClientHandler]::new()
    $handler.AllowAutoRedirect = $false
    $handler.UseCookies = $false
    if ($Options.UseDefaultCredentials) { $handler.UseDefaultCredentials = $true }
    if ($null -ne $Options.Certificate) { $null = $handler.ClientCertificates.Add($Options.Certificate) }
    if ($Options.NoProxy) { $handler.UseProxy = $false }
    if ("$($Options.Proxy)" -ne '') {
        $proxy = [System.Net.WebProxy]::new([uri] $Options.Proxy)
        if ($null -ne $Options.ProxyCredential) { $proxy.Credentials = $Options.ProxyCredential.GetNetworkCredential() }
        if ($Options.ProxyUseDefaultCredentials) { $proxy.UseDefaultCredentials = $true }
        $handler.Proxy = $proxy
    }
    $client = [System.Net.Http.HttpClient]::new($handler)
    $client.Timeout = [timespan]::FromSeconds($Options.TimeoutSec)
    $client
}

# Send-AdgMessage sends one message and returns Status, Headers and Text of the answer, or the Problem if
# there is no answer. It throws no errors, so $Error stays unchanged.
function Send-AdgMessage {
    [CmdletBinding()]
    param($Client, [string] $Method, [string] $Uri, [hashtable] $Headers, [string] $Body)
    $request = [System.Net.Http.HttpRequestMessage]::new([System.Net.Http.HttpMethod]::new($Method), $Uri)
    foreach ($name in $Headers.Keys) { $null = $request.Headers.TryAddWithoutValidation($name, [string] $Headers[$name]) }
    if ($Body -ne '') { $request.Content = [System.Net.Http.StringContent]::new($Body, [System.Text.Encoding]::UTF8, 'application/json') }
    $sending = $Client.SendAsync($request)
    while (-not $sending.AsyncWaitHandle.WaitOne(200)) { } # a pause in which Ctrl-C works
    if ($sending.IsCanceled) { return @{ Problem = "it took longer than $($Client.Timeout.TotalSeconds) s." } }
    if ($sending.IsFaulted) { return @{ Problem = $sending.Exception.GetBaseException().Message } }
    $response = $sending.Result
    $reading = $response.Content.ReadAsStringAsync()
    while (-not $reading.AsyncWaitHandle.WaitOne(200)) { }
    if ($reading.IsCanceled -or $reading.IsFaulted) { return @{ Problem = 'the answer was incomplete.' } }
    $found = @{}
    foreach ($pair in $response.Headers) { $found[$pair.Key] = @($pair.Value) -join ', ' }
    foreach ($pair in $response.Content.Headers) { $found[$pair.Key] = @($pair.Value) -join ', ' }
    $pause = $response.Headers.RetryAfter
    if ($null -ne $pause -and $null -ne $pause.Date) {
        $found['Retry-After'] = [string] [math]::Ceiling(($pause.Date - [System.DateTimeOffset]::UtcNow).TotalSeconds)
    }
    @{ Status = [int] $response.StatusCode; Headers = $found; Text = $reading.Result }
}
