// Package sandbox is the sandbox: a PowerShell that needs no Windows and no domain.
//
// A [World] is a simulated directory and DNS server, built from files. Its
// [World.Starter] is a go-powershell Starter whose "process" is an interp
// engine in this process (host.go) that reads its standard input line by line,
// as powershell.exe does when it is started with -Command -. So everything
// above a Starter (sessions, framing, pools, the HTTP side) runs in the sandbox
// as it does in production.
//
// The lines of the host are what package interp runs; how input is cut into
// lines and blocks, what an error looks like on stderr and which code the
// process exits with follow transcripts of a real engine (testdata).
package sandbox
