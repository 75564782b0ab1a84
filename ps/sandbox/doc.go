// Package sandbox simulates PowerShell and a domain, without Windows.
//
// A [World] is a simulated directory and DNS server, loaded from files. Its [World.Starter] is a
// go-powershell Starter whose "process" is a console host in this process (host.go): it reads standard input
// line by line, as powershell.exe does with -Command -, and runs the lines in package engine. Everything
// above a Starter (sessions, framing, pools, the HTTP side) therefore runs in the same way as in production.
//
// How input is split into lines and blocks, the form of errors on stderr and the
// exit codes follow transcripts of a real engine (testdata).
package sandbox
