package dotnet

import (
	"errors"
	"io"
)

// LineReader reads standard input line by line. The lines do not include their line endings.
// At the end it returns io.EOF.
type LineReader interface{ ReadLine() (string, error) }

// NewConsole returns the type [Console] of a host. It is not registered; the evaluator resolves
// [Console] to it before Lookup. A failed write ends the script with the writer's own error.
func NewConsole(in LineReader, out, errOut io.Writer) *Type {
	stderr := &Instance{Type: tTextWriter, Data: errOut}
	reader := &Instance{Type: tTextReader, Data: in}
	stream := func(w io.Writer) Func {
		return func(any, []any) (any, error) { return &Instance{Type: tStream, Data: w}, nil }
	}
	rows := []Member{
		Property("In", func(any) (any, error) { return reader, nil }),
		// go-powershell ends each answer with a line on standard error.
		Property("Error", func(any) (any, error) { return stderr, nil }),
		Method("OpenStandardOutput", "", stream(out)),
	}
	return Define(Class{Name: "System.Console", Static: rows})
}

func readLine(in LineReader) (any, error) {
	if in == nil {
		return nil, nil
	}
	line, err := in.ReadLine()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return line, nil
}

func writeTo(v any, b []byte) (any, error) {
	w, _ := v.(*Instance).Data.(io.Writer)
	if w == nil {
		return Void, nil
	}
	_, err := w.Write(b)
	return Void, err
}

var tTextReader, tTextWriter, tStream *Type

func declareStreams() {
	nothing := func(any, []any) (any, error) { return Void, nil }
	tTextReader = Register(Class{Name: "System.IO.TextReader", Members: []Member{
		Method("ReadLine", "", func(self any, _ []any) (any, error) {
			in, _ := self.(*Instance).Data.(LineReader)
			return readLine(in)
		}),
	}})
	tTextWriter = Register(Class{Name: "System.IO.TextWriter", Members: []Member{
		Method("WriteLine", "string", func(self any, a []any) (any, error) { return writeTo(self, ToUTF8(a[0].(string)+NewLine)) }),
	}})
	tStream = Register(Class{Name: "System.IO.Stream", Members: []Member{
		Method("Write", "byte[],int,int", func(self any, a []any) (any, error) {
			b, err := bytesRange(a[0], a[1].(int32), a[2].(int32))
			if err != nil {
				return nil, err
			}
			return writeTo(self, b)
		}),
		Method("Flush", "", nothing), Method("Dispose", "", nothing),
	}})
}
