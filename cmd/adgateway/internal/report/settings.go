package report

import (
	"encoding/json"
	"fmt"
	"io"

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
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", s.Key, s.Source, value) // Flush reports the error
	}
	return table.Flush()
}
