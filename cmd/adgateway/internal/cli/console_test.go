package cli

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"adgateway/cmd/release/clients"
	"adgateway/gateway/ops"
	"adgateway/ps/cmdlets"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

// people replaces the commands with which the module and the examples wait or prompt a person.
const people = `function Read-Host {
    [CmdletBinding()]
    param([switch] $AsSecureString, [string] $Prompt)
    $secret = $env:ADGATEWAY_TOKEN
    if ($Prompt -eq '') { $secret = 'Sommer-Wort-77x!' }
    [System.Net.NetworkCredential]::new('', $secret).SecurePassword
}
function Register-ArgumentCompleter {
    [CmdletBinding()]
    param([string[]] $CommandName, [string] $ParameterName, [scriptblock] $ScriptBlock)
    $script:completer = $ScriptBlock
}
function Write-Progress {
    [CmdletBinding()]
    param([string] $Activity, [string] $Status, [int] $PercentComplete, [switch] $Completed)
}
`

// standIn replaces the module's transport in these tests. The rest of the module is unchanged.
const standIn = `function New-AdgClient {
    [CmdletBinding()]
    param([hashtable] $Options)
    $Options
}
function Send-AdgMessage {
    [CmdletBinding()]
    param($Client, [string] $Method, [string] $Uri, [hashtable] $Headers, [string] $Body)
    $names = @($Headers.Keys)
    $values = @(foreach ($name in $names) { $Headers[$name] })
    if ($Client.UseDefaultCredentials) {
        $names = @($names) + 'X-Signed-In'
        $values = @($values) + 'yes'
    }
    Send-Message -Uri $Uri -Method $Method -HeaderName $names -HeaderValue $values -Body $Body
}
`

// console runs blocks of PowerShell on the sandbox's engine, one after another. They can
// import the module AdGateway and call the Invoke-RestMethod of the examples.
type console struct {
	session *engine.Session
	token   string

	errors, warnings, verbose, host []string // of the last block
	waits                           []int    // in seconds
	tolerant                        bool     // errors do not fail the test
}

// moduleText returns the text of the module with the transport replaced.
func moduleText(t *testing.T) string {
	t.Helper()
	files, err := clients.Module(ops.Table(), "1.2.3", "https://gw.corp.example/manual")
	require.NoError(t, err)
	text := strings.ReplaceAll(string(files[clients.ModuleName+".psm1"]), "\r\n", "\n")
	require.Equal(t, 1, strings.Count(text, clients.Transport()))
	return strings.Replace(text, clients.Transport(), standIn, 1)
}

// declared returns the declaration of a command with one parameter set.
func declared(name string, params ...*cmdlets.Param) *cmdlets.Cmdlet {
	all := cmdlets.AllSets
	return &cmdlets.Cmdlet{Name: name, Module: "Web", Sets: []string{all}, DefaultSet: all, Params: params}
}

func startConsole(t *testing.T, token string) *console {
	t.Helper()
	set := func(name, kind string) *cmdlets.Param {
		return &cmdlets.Param{Name: name, Type: kind, PerSet: []cmdlets.InSet{{Set: cmdlets.AllSets, Position: -1}}}
	}
	command := func(name string, process func(c *engine.Call) error) *engine.Command {
		return &engine.Command{
			Decl: declared(name,
				set("Body", "String"), set("ContentType", "String"), set("HeaderName", "String[]"),
				set("HeaderValue", "String[]"), set("Method", "String"), set("Uri", "String")),
			Class: "Microsoft.PowerShell.Commands.InvokeRestMethodCommand", Process: process,
		}
	}
	c := &console{token: token}
	sleep := &engine.Command{
		Decl: declared("Start-Sleep", set("Seconds", "Int32")),
		Process: func(call *engine.Call) error {
			seconds, _ := call.Bound("Seconds")
			c.waits = append(c.waits, int(seconds.(int32)))
			return nil
		},
	}
	eng := engine.NewEngine(engine.Options{
		Modules: []*engine.Module{
			{Name: "Web", Version: "1.0", Commands: []*engine.Command{
				command("Send-Request", sendRequest), command("Send-Message", sendMessage), sleep,
			}},
			{Name: clients.ModuleName, Version: "1.2.3", Script: moduleText(t)},
		},
		AutoLoad: true, Env: map[string]string{"ADGATEWAY_TOKEN": token},
	})
	c.session = eng.NewSession(engine.Console{})
	c.run(t, invokeRestMethod+people)
	return c
}

// run runs a block and returns its output.
func (c *console) run(t *testing.T, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var printed []any
	c.errors, c.warnings, c.verbose, c.host, c.waits = nil, nil, nil, nil, nil
	keep := func(to *[]string) func(string) { return func(text string) { *to = append(*to, text) } }
	err := c.session.Run(ctx, "manual", text, engine.Streams{
		Output: func(v any) error { printed = append(printed, v); return nil },
		Error: func(rec *dotnet.ErrorRecord) {
			c.errors = append(c.errors, rec.ErrorID+": "+rec.Error())
			if !c.tolerant {
				t.Errorf("%v", rec)
			}
		},
		Warning: keep(&c.warnings), Verbose: keep(&c.verbose), Host: keep(&c.host),
	})
	require.NoError(t, err, text)
	return formatOutput(printed)
}

// request sends the request that a command's arguments describe.
func request(c *engine.Call) (*http.Response, string, error) {
	header := http.Header{}
	values := c.Strings("HeaderValue")
	for i, name := range c.Strings("HeaderName") {
		header.Set(name, values[i])
	}
	if kind := c.String("ContentType"); kind != "" {
		header.Set("Content-Type", kind)
	} else if c.String("Body") != "" {
		header.Set("Content-Type", "application/json; charset=utf-8")
	}
	return exchange(c.Context(), c.String("Method"), c.String("Uri"), header, c.String("Body"))
}

// sendMessage implements Send-AdgMessage of the module.
func sendMessage(c *engine.Call) error {
	answer := dotnet.NewHashtable()
	response, text, err := request(c)
	if err != nil {
		answer.Set("Problem", err.Error())
		return c.Write(answer)
	}
	headers := dotnet.NewHashtable()
	for name := range response.Header {
		headers.Set(name, response.Header.Get(name))
	}
	answer.Set("Status", int32(response.StatusCode))
	answer.Set("Headers", headers)
	answer.Set("Text", dates.ReplaceAllString(text, "null"))
	return c.Write(answer)
}

// sendRequest implements Invoke-RestMethod for the examples.
func sendRequest(c *engine.Call) error {
	response, body, err := request(c)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		const text = "The remote server returned an error: (%d)."
		return c.Throw(&dotnet.ErrorRecord{
			Exception: dotnet.ExceptionNamed("System.Net.WebException", text, response.StatusCode),
			ErrorID:   "WebCmdletWebResponseException", Category: dotnet.InvalidOperation, Details: body,
		})
	}
	return c.Write(dates.ReplaceAllString(body, "null"))
}
