package dotnet

import (
	"errors"
	"io"
)

// LineReader gives standard input by lines, without their ends; io.EOF at its end.
type LineReader interface{ ReadLine() (string, error) }

// NewConsole makes the type [Console] of a host: In, Out, Error, the Open
// functions, Write, WriteLine, ReadLine. It is not registered: the evaluator
// resolves [Console] to it before Lookup. A write that fails ends the script
// with the writer's own error.
func NewConsole(in LineReader, out, errOut io.Writer) *Type {
	stdout, stderr := textWriter(out), textWriter(errOut)
	reader := &Instance{Type: tTextReader, Data: in}
	stream := func(w io.Writer) Func {
		return func(any, []any) (any, error) { return &Instance{Type: tStream, Data: w}, nil }
	}
	rows := []Member{
		Property("In", func(any) (any, error) { return reader, nil }),
		Property("Out", func(any) (any, error) { return stdout, nil }),
		Property("Error", func(any) (any, error) { return stderr, nil }),
		Property("IsInputRedirected", func(any) (any, error) { return true, nil }),
		Property("IsOutputRedirected", func(any) (any, error) { return true, nil }),
		Property("IsErrorRedirected", func(any) (any, error) { return true, nil }),
		encodingProperty("OutputEncoding"), encodingProperty("InputEncoding"),
		Method("OpenStandardOutput", "", stream(out)), Method("OpenStandardError", "", stream(errOut)),
		Method("ReadLine", "", func(any, []any) (any, error) { return readLine(in) }),
	}
	for _, row := range writerMembers {
		rows = append(rows, Method(row.Name, row.Sig, func(_ any, a []any) (any, error) { return row.Call(stdout, a) }))
	}
	return Define(Class{Name: "System.Console", Static: rows})
}

// encodingProperty takes UTF-8 only: the streams are UTF-8.
func encodingProperty(name string) Member {
	return Member{Name: name,
		Get: func(any) (any, error) { return newEncoding("System.Text.UTF8Encoding", encPlain8), nil },
		Set: func(_, v any) error {
			if i, ok := v.(*Instance); ok {
				if e, ok := i.Data.(*encoding); ok && e.codePage == encUTF8.codePage {
					return nil
				}
			}
			return ExceptionNamed("System.NotSupportedException", "The console is UTF-8 only.")
		}}
}

func textWriter(w io.Writer) *Instance { return &Instance{Type: tTextWriter, Data: w} }

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

func writes(name, sig string, text func(a []any) (string, error)) Member {
	return Method(name, sig, func(self any, a []any) (any, error) {
		s, err := text(a)
		if err != nil {
			return nil, err
		}
		return writeTo(self, ToUTF8(s))
	})
}

var writerMembers = []Member{
	writes("Write", "string", func(a []any) (string, error) { return Text(a[0]), nil }),
	writes("Write", "object", func(a []any) (string, error) { return Text(a[0]), nil }),
	writes("Write", "string,params object[]", func(a []any) (string, error) { return composite(Text(a[0]), itemsOf(a[1])) }),
	writes("WriteLine", "", func([]any) (string, error) { return NewLine, nil }),
	writes("WriteLine", "string", func(a []any) (string, error) { return Text(a[0]) + NewLine, nil }),
	writes("WriteLine", "object", func(a []any) (string, error) { return Text(a[0]) + NewLine, nil }),
	writes("WriteLine", "string,params object[]", func(a []any) (string, error) {
		s, err := composite(Text(a[0]), itemsOf(a[1]))
		return s + NewLine, err
	}),
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
	tTextWriter = Register(Class{Name: "System.IO.TextWriter", Members: append([]Member{
		Method("Flush", "", nothing), Method("Dispose", "", nothing), Method("Close", "", nothing),
		{Name: "NewLine", Get: func(any) (any, error) { return NewLine, nil }, Set: func(any, any) error { return nil }},
		{Name: "AutoFlush", Get: func(any) (any, error) { return true, nil }, Set: func(any, any) error { return nil }},
	}, writerMembers...)})
	tStream = Register(Class{Name: "System.IO.Stream", Members: []Member{
		Method("Write", "byte[],int,int", func(self any, a []any) (any, error) {
			b, err := bytesRange(a[0], a[1].(int32), a[2].(int32))
			if err != nil {
				return nil, err
			}
			return writeTo(self, b)
		}),
		Method("WriteByte", "byte", func(self any, a []any) (any, error) { return writeTo(self, []byte{a[0].(uint8)}) }),
		Method("Flush", "", nothing), Method("Dispose", "", nothing), Method("Close", "", nothing),
		Constant("CanWrite", true), Constant("CanRead", false), Constant("CanSeek", false),
	}})
}
