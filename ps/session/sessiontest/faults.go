package sessiontest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// Faults are scripts that violate the protocol, each in a different way, and some correct ones.
// Their names have the form Verb-GatewayNoun, like the names of real scripts.
var Faults = map[string]func(*Call){
	// Correct scripts.
	"Get-GatewayEcho": func(c *Call) {
		batch, _ := json.Marshal([]any{c.Args})
		c.Frame("records", string(batch))
		c.End()
	},
	"Get-GatewayNothing": func(c *Call) { c.End() },
	"New-GatewayThing": func(c *Call) {
		c.Frame("step", `{"label":"create thing","guid":"g-1","dn":"CN=x"}`)
		c.Frame("records", `[{"guid":"g-1"}]`)
		c.Frame("end", `{"effect":"created","warnings":[{"code":"w","target":"t","message":"m"}],`+
			`"changes":[{"guid":"g-1","dn":"CN=x","before":{},"after":{"name":"x"}}],"counts":{"created":1}}`)
	},
	"Get-GatewayMany": func(c *Call) { // Batches batches of Size bytes each
		filler := strings.Repeat("x", number(c, "Size"))
		for i := range number(c, "Batches") {
			c.Frame("records", fmt.Sprintf(`[{"n":%d,"filler":"%s"}]`, i, filler))
		}
		c.End()
	},
	"Get-GatewayNoise": func(c *Call) {
		_, _ = io.WriteString(c.Stdout, "\x1b[?1hWARNING: something\r\nno line end")
		c.Frame("records", `[{"a":1}]`)
		_, _ = io.WriteString(c.Stdout, "between\n\n")
		_, _ = io.WriteString(c.Stderr, fmt.Sprintf("At line:1 char:1 %v\n", c.Args["Password"]))
		c.End()
	},
	"Get-GatewayStderrFlood": func(c *Call) {
		line := strings.Repeat("e", 1000) + "\n"
		for range 2000 {
			_, _ = io.WriteString(c.Stderr, line)
		}
		c.End()
	},
	"Get-GatewayDrip": func(c *Call) { // writes every byte separately
		slow := &drip{c.Stdout}
		WriteFrame(slow, c.ID, "step", `{"label":"a","guid":"","dn":""}`)
		WriteFrame(slow, c.ID, "records", `[{"a":"ä😀"}]`)
		WriteFrame(slow, c.ID, "end", `{"effect":"none"}`)
	},
	"Get-GatewayMissing": func(c *Call) {
		c.Frame("error", `{"step":"find user","type":"System.Management.Automation.ItemNotFoundException","id":"Gateway.not_found",`+
			`"category":"ObjectNotFound","code":null,"native":null,"message":"no such user","server":null,"line":13,`+
			`"gateway":"not_found","arg":"UserName","outcome":"none","remains":[]}`)
	},
	"New-GatewayHalf": func(c *Call) {
		c.Frame("step", `{"label":"create user","guid":"g-2","dn":"CN=y"}`)
		c.Frame("error", `{"step":"set password","type":"Microsoft.ActiveDirectory.Management.ADPasswordComplexityException",`+
			`"id":"ActiveDirectoryServer:1325,Set-ADAccountPassword","category":"InvalidData","code":"1325","native":null,`+
			`"message":"too weak","server":"0000052D","line":20,"outcome":"partial","remains":[{"guid":"g-2","dn":"CN=y"}]}`)
	},

	// Scripts that end the process.
	"Stop-GatewayBefore": func(*Call) { panic(ErrExit) },
	"Stop-GatewayAfterIntent": func(c *Call) {
		c.Announce(`{"effect":"created","objects":[{"account":"z","changes":[{"name":"exists","before":"False","after":"True"}]}]}`)
		panic(ErrExit)
	},
	"Stop-GatewayAfterStep": func(c *Call) {
		c.Frame("step", `{"label":"create user","guid":"g-3","dn":"CN=z"}`)
		panic(ErrExit)
	},
	"Stop-GatewayInsideHeader": func(c *Call) { _, _ = io.WriteString(c.Stdout, "\x1e"+c.ID+" rec"); panic(ErrExit) },
	"Stop-GatewayInsideFrame": func(c *Call) {
		_, _ = io.WriteString(c.Stdout, "\x1e"+c.ID+" records 100\n[{")
		panic(ErrExit)
	},
	"Stop-GatewayBeforeLineFeed": func(c *Call) {
		_, _ = io.WriteString(c.Stdout, "\x1e"+c.ID+" end 17\n"+`{"effect":"none"}`)
		panic(ErrExit)
	},
	"Stop-GatewayAfterEnd": func(c *Call) { c.End(); panic(ErrExit) },

	// Scripts that hang.
	"Wait-GatewayForever": func(c *Call) { <-c.Context.Done(); panic(ErrExit) },
	"Wait-GatewayAfterStep": func(c *Call) {
		c.Frame("step", `{"label":"create user","guid":"g-4","dn":"CN=w"}`)
		<-c.Context.Done()
		panic(ErrExit)
	},
	"Wait-GatewayInsideFrame": func(c *Call) {
		_, _ = io.WriteString(c.Stdout, "\x1e"+c.ID+" records 1000000\n[")
		<-c.Context.Done()
		panic(ErrExit)
	},

	// Malformed frames.
	"Send-GatewayWrongId": func(c *Call) { WriteFrame(c.Stdout, "999", "end", `{"effect":"none"}`) },
	"Send-GatewayWrongIdFirst": func(c *Call) { // then a good answer in the same write
		var all strings.Builder
		WriteFrame(&all, "999", "records", `[{"of":"another request"}]`)
		WriteFrame(&all, c.ID, "step", `{"label":"create user","guid":"g-5","dn":"CN=v"}`)
		WriteFrame(&all, c.ID, "records", `[{"a":1}]`)
		WriteFrame(&all, c.ID, "end", `{"effect":"none"}`)
		_, _ = io.WriteString(c.Stdout, all.String())
	},
	"Send-GatewayQuestion":    func(c *Call) { WriteFrame(c.Stdout, "?", "error", `{"step":"decode"}`) },
	"Send-GatewayWrongKind":   func(c *Call) { c.Frame("finish", `{}`) },
	"Send-GatewayReady":       func(c *Call) { c.Frame("ready", ReadyPayload) },
	"Send-GatewayBadLength":   raw("\x1e%s end 0x11\n{\"effect\":\"none\"}\n"),
	"Send-GatewayNegative":    raw("\x1e%s end -1\n\n"),
	"Send-GatewayLeadingZero": raw("\x1e%s end 017\n{\"effect\":\"none\"}\n"),
	"Send-GatewayLongHeader":  raw("\x1e%s end " + strings.Repeat("1", 200) + "\n"),
	// the stated length is too small by one
	"Send-GatewayShort":    raw("\x1e%s end 16\n{\"effect\":\"none\"}\n"),
	"Send-GatewayHuge":     raw("\x1e%s records 999999999999\n["),
	"Send-GatewayNoJson":   func(c *Call) { c.Frame("records", `[{"a":}]`) },
	"Send-GatewayObject":   func(c *Call) { c.Frame("records", `{"a":1}`) },
	"Send-GatewayBadEnd":   func(c *Call) { c.Frame("end", `{"effect":"perhaps"}`) },
	"Send-GatewayArrayEnd": func(c *Call) { c.Frame("end", `[]`) },
	"Send-GatewayBadStep":  func(c *Call) { c.Frame("step", `{"label":[]}`) },
	"Send-GatewayTwice":    func(c *Call) { c.End(); c.End() },
	"Send-GatewayFlood": func(c *Call) {
		batch := `["` + strings.Repeat("x", 60_000) + `"]`
		for c.Context.Err() == nil {
			c.Frame("records", batch)
		}
		panic(ErrExit)
	},
	"Send-GatewayNoiseFlood": func(c *Call) {
		line := strings.Repeat("n", 60_000) + "\n"
		for c.Context.Err() == nil {
			if _, err := io.WriteString(c.Stdout, line); err != nil {
				panic(ErrExit)
			}
		}
		panic(ErrExit)
	},
}

func raw(format string) func(*Call) {
	return func(c *Call) {
		_, _ = io.WriteString(c.Stdout, fmt.Sprintf(format, c.ID))
		// Otherwise the reader would rightly wait for more.
		c.End()
		c.End()
	}
}

func number(c *Call, name string) int {
	f, _ := c.Args[name].(float64)
	return int(f)
}

// drip writes one byte at a time.
type drip struct{ to io.Writer }

func (d *drip) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := d.to.Write(p[i : i+1]); err != nil {
			return i, err
		}
		if i%16 == 0 {
			time.Sleep(50 * time.Microsecond)
		}
	}
	return len(p), nil
}
