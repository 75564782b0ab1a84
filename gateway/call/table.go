package call

import (
	"adgateway/gateway/ops"
	"adgateway/ps"
)

// A Table holds the rows and the scripts of the gateway. It is immutable.
type Table struct {
	Rows    []*ops.Operation
	Scripts map[string]ps.Script // by name
}

// NewTable returns a table of rows and scripts.
func NewTable(rows []*ops.Operation, scripts []ps.Script) Table {
	t := Table{Rows: rows, Scripts: map[string]ps.Script{}}
	for _, script := range scripts {
		t.Scripts[script.Name] = script
	}
	return t
}

// takes reports whether a script declares a parameter.
func (t Table) takes(script, name string) bool {
	_, declared := t.Scripts[script].Param(name)
	return declared
}
