package output

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"adgateway/gateway/config"
)

// Setting is a setting with its value, its origin and its documentation.
type Setting struct {
	Key      string        `json:"key"`
	Value    any           `json:"value"` // secrets are masked
	Source   config.Origin `json:"source"`
	Default  string        `json:"default"`
	Live     bool          `json:"live"`
	Variable string        `json:"variable"`
	Allowed  string        `json:"allowed"`
	Doc      string        `json:"doc"`
}

// NewSettings returns every setting, in the order of [config.Rows].
func NewSettings(settings *config.Settings, from map[string]config.Origin) []Setting {
	var all []Setting
	for _, row := range config.Rows() {
		all = append(all, Setting{
			Key: row.Key, Value: row.Value(settings), Source: from[row.Key], Default: row.Default,
			Live: row.Live(), Variable: row.Variable(), Allowed: row.Allowed(), Doc: row.Doc,
		})
	}
	return all
}

// Settings writes a table of settings.
func Settings(w io.Writer, all []Setting) error {
	table := newTable(w)
	for _, s := range all {
		value, err := json.Marshal(s.Value)
		if err != nil {
			return err
		}
		table.row(s.Key, s.Source, string(value))
	}
	return table.Flush()
}

// ConfigCheck is the result of checking the settings.
type ConfigCheck struct {
	File     string   `json:"file"`
	Exists   bool     `json:"exists"`
	OK       bool     `json:"ok"`
	Faults   []string `json:"faults"`
	Warnings []string `json:"warnings"`
	Set      int      `json:"set"` // settings that differ from their defaults
	All      int      `json:"settings"`
}

// NewConfigCheck returns the result for a settings file. from is nil if the settings cannot be loaded. advice
// contains sentences about the settings, and fault joins all mistakes.
func NewConfigCheck(
	file string, exists bool, from map[string]config.Origin, advice []string, fault error,
) *ConfigCheck {
	r := &ConfigCheck{File: file, Exists: exists, OK: fault == nil, Faults: []string{},
		Warnings: append([]string{}, advice...), All: len(config.Rows())}
	if fault != nil {
		for line := range strings.SplitSeq(fault.Error(), "\n") {
			if line != "" && !strings.HasSuffix(line, ":") { // a heading
				r.Faults = append(r.Faults, line)
			}
		}
	}
	for _, row := range config.Rows() {
		if origin := from[row.Key]; origin != config.FromDefault && origin != "" {
			r.Set++
		}
	}
	return r
}

// Text writes the result of a check that found no faults.
func (r *ConfigCheck) Text(w io.Writer) error {
	file := r.File
	if !r.Exists {
		file += " (does not exist; 'adgateway config init' creates it)"
	}
	_, err := fmt.Fprintf(w, "%s: no mistakes; %d of %d settings are set, the others have their defaults\n",
		file, r.Set, r.All)
	for _, sentence := range r.Warnings {
		if err == nil {
			_, err = fmt.Fprintf(w, "warning: %s\n", sentence)
		}
	}
	return err
}
