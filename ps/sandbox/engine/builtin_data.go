package engine

import (
	"strings"
	"time"

	"adgateway/ps/sandbox/engine/dotnet"
)

func dataCommands() []spec {
	return []spec{
		{name: "ConvertTo-Json", class: "ConvertToJsonCommand", make: convertToJSON,
			params: `[Parameter(Mandatory,Position=0,ValueFromPipeline)][AllowNull()][object]$InputObject,[Parameter()][ValidateRange(0,100)][int]$Depth,
				[Parameter()][switch]$Compress,[Parameter()][switch]$EnumsAsStrings`},
		{name: "ConvertFrom-Json", class: "ConvertFromJsonCommand", make: convertFromJSON,
			params: `[Parameter(Mandatory,Position=0,ValueFromPipeline)][AllowEmptyString()][string]$InputObject`},
		{name: "ConvertTo-SecureString", class: "ConvertToSecureStringCommand", make: convertToSecureString,
			params: `[Parameter(Mandatory,Position=0,ValueFromPipeline)][string]$String,[Parameter()][switch]$AsPlainText,[Parameter()][switch]$Force`},
		{name: "Get-Date", class: "GetDateCommand", make: getDate,
			params: `[Parameter(Position=0,ValueFromPipeline)][Alias('LastWriteTime')][datetime]$Date,[Parameter()][int]$Year,[Parameter()][int]$Month,[Parameter()][int]$Day,
				[Parameter()][int]$Hour,[Parameter()][int]$Minute,[Parameter()][int]$Second,[Parameter()][int]$Millisecond,[Parameter()][string]$Format,[Parameter()][string]$UFormat`},
		{name: "New-TimeSpan", class: "NewTimeSpanCommand", make: once(newTimeSpan),
			params: `[Parameter(Position=0)][datetime]$Start,[Parameter(Position=1)][datetime]$End,[Parameter()][int]$Days,[Parameter()][int]$Hours,[Parameter()][int]$Minutes,[Parameter()][int]$Seconds`},
		{name: "New-Guid", class: "NewGuidCommand", make: once(newGuid), params: ``},
		{name: "Start-Sleep", class: "StartSleepCommand", set: "Seconds", make: once(startSleep),
			params: `[Parameter(Mandatory,Position=0,ParameterSetName='Seconds')][ValidateRange(0,2147483)][double]$Seconds,
				[Parameter(Mandatory,ParameterSetName='Milliseconds')][Alias('ms')][ValidateRange(0,2147483647)][int]$Milliseconds`},
	}
}

// toJSON is ConvertTo-Json.
type toJSON struct {
	inv     *invocation
	out     sink
	options dotnet.JSONOptions
	items   []any // of the pipeline
}

func convertToJSON(inv *invocation, out sink) (stage, error) {
	st := &toJSON{inv: inv, out: out}
	st.options = dotnet.JSONOptions{Depth: 2, Compress: inv.flag("Compress"), EnumsAsString: inv.flag("EnumsAsStrings")}
	if n, ok := inv.get("Depth").(int32); ok {
		st.options.Depth = int(n)
	}
	return st, nil
}

func (st *toJSON) begin() error { return nil }

func (st *toJSON) process(v any) error {
	if err := st.inv.f.step(st.inv.at); err != nil {
		return err
	}
	st.items = append(st.items, v)
	return st.inv.f.charge(16)
}

func (st *toJSON) end() error {
	switch {
	case !st.inv.hasPipe:
		return st.write(st.inv.get("InputObject"))
	case len(st.items) == 0:
		return nil
	case len(st.items) == 1:
		return st.write(st.items[0])
	}
	return st.write(dotnet.NewArray(st.items...))
}

func (st *toJSON) write(v any) error {
	text, truncated, err := dotnet.ToJSON(v, st.options)
	if err != nil {
		pe := asPS(err)
		if pe == nil {
			return err
		}
		return st.inv.terminating(st.inv.qualify(pe.rec))
	}
	if truncated {
		if err := st.inv.warn("Resulting JSON is truncated as serialization has exceeded the set depth of " + dotnet.ToText(int32(st.options.Depth)) + "."); err != nil {
			return err
		}
	}
	if err := st.inv.f.charge(len(text)); err != nil {
		return err
	}
	return st.out.write(text)
}

// fromJSON is ConvertFrom-Json.
type fromJSON struct {
	inv   *invocation
	out   sink
	lines []string // of the pipeline
}

func convertFromJSON(inv *invocation, out sink) (stage, error) {
	return &fromJSON{inv: inv, out: out}, nil
}

func (st *fromJSON) begin() error { return nil }

func (st *fromJSON) process(v any) error {
	if err := st.inv.f.step(st.inv.at); err != nil {
		return err
	}
	st.lines = append(st.lines, dotnet.ToText(v))
	return nil
}

func (st *fromJSON) end() error {
	if !st.inv.hasPipe {
		return st.parse(dotnet.ToText(st.inv.get("InputObject")))
	}
	switch len(st.lines) {
	case 0:
		return nil
	case 1:
		return st.parse(st.lines[0])
	}
	// Texts that are whole each give a value each, lines of one text give one:
	// the first tells which they are, unless it is null.
	first, err := dotnet.FromJSON(st.lines[0])
	if err != nil {
		return st.parse(strings.Join(st.lines, "\n"))
	}
	if first == nil {
		if err := st.out.write(nil); err != nil {
			return err
		}
		return st.parse(strings.Join(st.lines, "\n"))
	}
	for _, line := range st.lines {
		if err := st.parse(line); err != nil {
			return err
		}
	}
	return nil
}

func (st *fromJSON) parse(text string) error {
	v, err := dotnet.FromJSON(text)
	if err != nil {
		pe := asPS(err)
		if pe == nil {
			return err
		}
		return st.inv.terminating(st.inv.qualify(pe.rec))
	}
	if err := st.inv.f.charge(len(text)); err != nil {
		return err
	}
	return emit(st.out, v)
}

func convertToSecureString(inv *invocation, out sink) (stage, error) {
	convert := func(text string) error {
		if !inv.flag("AsPlainText") {
			e := dotnet.NewException(exceptionType("System.FormatException"), "The input string '"+strings.Repeat("*", 3)+"' was not in a correct format.")
			return inv.writeError(inv.qualify(dotnet.NewError(e, "ImportSecureString_InvalidArgument", dotnet.InvalidArgument, nil)))
		}
		return out.write(dotnet.NewSecureString(text))
	}
	st := &inputStage{inv: inv}
	st.each = func(v any) error { return convert(dotnet.ToText(v)) }
	st.done = func() error {
		if inv.hasPipe {
			return nil
		}
		return convert(dotnet.ToText(inv.get("String")))
	}
	return st, nil
}

const ticksPerSecond = 10_000_000

func (s *Session) now() dotnet.DateTime {
	return dotnet.DateTimeOf(s.engine.opts.Now(), dotnet.Local)
}

func getDate(inv *invocation, out sink) (stage, error) {
	each := func(v any) error {
		date, err := inv.f.convert(v, dotnet.TDateTime)
		if err != nil {
			return inv.f.pipelineError(inv, err)
		}
		return writeDate(inv, out, date.(dotnet.DateTime))
	}
	done := func() error {
		if inv.hasPipe {
			return nil
		}
		date := inv.f.s.now()
		if d, ok := inv.get("Date").(dotnet.DateTime); ok {
			date = d
		}
		return writeDate(inv, out, date)
	}
	return &inputStage{inv: inv, each: each, done: done}, nil
}

func writeDate(inv *invocation, out sink, date dotnet.DateTime) error {
	date, err := adjustDate(inv, date)
	if err != nil {
		return err
	}
	if v, ok := inv.boundValue("Format"); ok {
		format := dotnet.ToText(v)
		if named, ok := fileDates[lower(format)]; ok {
			format = named
			if strings.HasSuffix(format, "Z") {
				utc, err := dotnet.CallMethod(date, "ToUniversalTime", nil)
				if err != nil {
					return err
				}
				date = utc.(dotnet.DateTime)
			}
		}
		text, err := dotnet.CallMethod(date, "ToString", []any{format})
		if err != nil {
			return err
		}
		return out.write(text)
	}
	if inv.has("UFormat") {
		return runtimeError("NotSupported", dotnet.NotImplemented, nil, "Get-Date -UFormat is not supported: use -Format.")
	}
	return out.write(date)
}

// fileDates are the formats of -Format that have a name; those of UTC end in Z.
var fileDates = map[string]string{
	"filedate": "yyyyMMdd", "filedateuniversal": "yyyyMMddZ",
	"filedatetime": "yyyyMMddTHHmmssffff", "filedatetimeuniversal": "yyyyMMddTHHmmssffffZ",
}

// adjustDate replaces the parts that -Year and the like give.
func adjustDate(inv *invocation, date dotnet.DateTime) (dotnet.DateTime, error) {
	names := []string{"Year", "Month", "Day", "Hour", "Minute", "Second", "Millisecond"}
	parts := make([]any, 0, len(names)+1)
	changed := false
	for _, name := range names {
		if v, ok := inv.boundValue(name); ok {
			parts = append(parts, v)
			changed = true
			continue
		}
		v, _, err := dotnet.GetMember(date, name)
		if err != nil {
			return date, err
		}
		parts = append(parts, v)
	}
	if !changed {
		return date, nil
	}
	v, err := dotnet.New(dotnet.TDateTime, parts)
	if err != nil {
		return date, err
	}
	made := v.(dotnet.DateTime)
	made.Kind = date.Kind
	return made, nil
}

func newTimeSpan(inv *invocation, out sink) error {
	if inv.has("Start") || inv.has("End") {
		now := inv.f.s.now()
		from, to := now, now
		if d, ok := inv.get("Start").(dotnet.DateTime); ok {
			from = d
		}
		if d, ok := inv.get("End").(dotnet.DateTime); ok {
			to = d
		}
		return out.write(dotnet.TimeSpan(to.Ticks - from.Ticks))
	}
	number := func(name string) int64 { n, _ := inv.get(name).(int32); return int64(n) }
	seconds := ((number("Days")*24+number("Hours"))*60+number("Minutes"))*60 + number("Seconds")
	return out.write(dotnet.TimeSpan(seconds * ticksPerSecond))
}

func newGuid(_ *invocation, out sink) error {
	t := dotnet.TGuid
	v, err := dotnet.CallStatic(t, "NewGuid", nil)
	if err != nil {
		return err
	}
	return out.write(v)
}

// startSleep waits, but never longer than the limits or the context allow.
func startSleep(inv *invocation, _ sink) error {
	s := inv.f.s
	wait := time.Duration(0)
	if n, ok := inv.get("Seconds").(float64); ok {
		wait = time.Duration(n * float64(time.Second))
	} else if n, ok := inv.get("Milliseconds").(int32); ok {
		wait = time.Duration(n) * time.Millisecond
	}
	left := time.Until(s.meter.deadline)
	timer := time.NewTimer(min(wait, left))
	defer timer.Stop()
	select {
	case <-s.ctx.Done():
		return s.cancelled(inv.at)
	case <-timer.C:
	}
	if wait > left {
		return &LimitError{Limit: "WallTime", Line: inv.at.line()}
	}
	return nil
}
