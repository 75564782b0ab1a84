package adcmd

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine/dotnet"
)

// entryTypes returns System.DirectoryServices.DirectoryEntry and its two collections. They
// support the members with which scripts read and write single attributes over LDAP (facts
// F20): paths with a server, RefreshCache and CommitChanges. Values are strings, booleans or
// 32-bit integers; attributes with other values are rejected.
func entryTypes(h *host) []*dotnet.Type {
	s := &entries{host: h}
	s.values = dotnet.Define(dotnet.Class{Name: entryNamespace + "PropertyValueCollection",
		Members: []dotnet.Member{
			{Name: "Value", Get: func(self any) (any, error) { return cached(self).get(), nil }, Set: func(self, v any) error { return cached(self).put(dotnet.EnumerateAny(v)) }},
			dotnet.Property("Count", func(self any) (any, error) { return int32(len(cached(self).items)), nil }),
			dotnet.Method("Clear", "", func(self any, _ []any) (any, error) { return dotnet.Void, cached(self).put(nil) }),
		}})
	s.properties = dotnet.Define(dotnet.Class{Name: entryNamespace + "PropertyCollection",
		Members: []dotnet.Member{
			dotnet.Method("Item", "string", func(self any, args []any) (any, error) {
				return self.(*dotnet.Instance).Data.(*entry).property(dotnet.ToText(args[0]))
			}),
		}})
	s.entry = dotnet.Define(dotnet.Class{
		Name: entryNamespace + "DirectoryEntry",
		New: []dotnet.Member{dotnet.Constructor("string", func(_ any, args []any) (any, error) {
			return &dotnet.Instance{Type: s.entry,
				Data: &entry{entries: s, path: dotnet.ToText(args[0]), ctx: context.Background}}, nil
		})},
		Members: []dotnet.Member{
			dotnet.Property("Properties", func(self any) (any, error) {
				return &dotnet.Instance{Type: s.properties, Data: opened(self)}, nil
			}),
			dotnet.Method("RefreshCache", "string[]", func(self any, args []any) (any, error) {
				return dotnet.Void, opened(self).refresh(dotnet.EnumerateAny(args[0]))
			}),
			dotnet.Method("CommitChanges", "", func(self any, _ []any) (any, error) { return dotnet.Void, opened(self).commit() }),
			memberInvokeGet,
			dotnet.Method("Dispose", "", func(self any, _ []any) (any, error) { opened(self).disposed = true; return dotnet.Void, nil }),
		},
	})
	return []*dotnet.Type{s.entry, s.properties, s.values}
}

const entryNamespace = "System.DirectoryServices."

// entries contains the types of one module.
type entries struct {
	*host
	entry, properties, values *dotnet.Type
}

// entry is a DirectoryEntry: a path and the attributes loaded from it.
type entry struct {
	*entries
	path     string
	ctx      func() context.Context     // returns the context of the current run
	cache    map[string]*attributeCache // by folded name
	bound    bool                       // the object has been found
	disposed bool
}

var _ dotnet.ContextUser = (*entry)(nil)

// UseContext implements [dotnet.ContextUser]. Reads and writes end with the run that makes them.
func (e *entry) UseContext(current func() context.Context) { e.ctx = current }

var _ dotnet.Preparer = (*entry)(nil)

// Prepare implements [dotnet.Preparer]. PowerShell's adapter first asks the object for an
// attribute with the member's name, which connects to the server (facts F21).
func (e *entry) Prepare() error {
	if e.bound {
		return nil
	}
	dc, ref, err := e.bind()
	if err != nil {
		return err
	}
	if _, err := dc.Get(e.ctx(), ref, "objectClass"); err != nil {
		return e.thrown(err)
	}
	e.bound = true
	return nil
}

// attributeCache is a PropertyValueCollection.
type attributeCache struct {
	name    string
	items   []any
	changed bool
}

func opened(self any) *entry { return self.(*dotnet.Instance).Data.(*entry) }

func cached(self any) *attributeCache { return self.(*dotnet.Instance).Data.(*attributeCache) }

func (a *attributeCache) get() any {
	switch len(a.items) {
	case 0:
		return nil
	case 1:
		return a.items[0]
	default:
		return dotnet.NewArray(slices.Clone(a.items)...)
	}
}

func (a *attributeCache) put(items []any) error {
	values := make([]any, 0, len(items))
	for _, item := range items {
		switch item.(type) {
		case nil:
			continue
		case string, bool, int32:
			values = append(values, item)
		default:
			return dotnet.ExceptionNamed("System.NotSupportedException",
				"the sandbox does not support values of the type %s in a directory entry", dotnet.TypeOf(item).Name)
		}
	}
	a.items, a.changed = values, true
	return nil
}

// ADSI paths, and the ADSI errors that do not come from the server.
const (
	hresultBadPath  = 0x80005000 // E_ADS_BAD_PATHNAME
	hresultWin32    = 0x80070000
	codeServerDown  = 8250
	ldapScheme      = "LDAP://"
	messageBadPath  = "Unknown error (0x80005000)"
	messageDisposed = "Cannot access a disposed object."
)

// bind returns the controller and the object reference for the path, which is
// LDAP://server/<GUID=...> or LDAP://server/DN.
func (e *entry) bind() (*directory.DC, string, error) {
	if e.disposed {
		return nil, "", dotnet.ExceptionNamed("System.ObjectDisposedException", "%s", messageDisposed)
	}
	rest, isLDAP := strings.CutPrefix(e.path, ldapScheme)
	server, ref, has := strings.Cut(rest, "/")
	if !isLDAP || !has || server == "" || ref == "" {
		return nil, "", comException(messageBadPath, hresultBadPath)
	}
	dc, err := e.Domain.DC(server)
	if err != nil {
		return nil, "", e.thrown(err)
	}
	if !e.reach(e.ctx(), dc) {
		return nil, "", e.thrown(&directory.Error{Code: directory.CodeUnspecified, Kind: directory.KindServerDown,
			Op: "connect", DN: dc.HostName()})
	}
	return dc, strings.ReplaceAll(ref, `\/`, "/"), nil
}

// refresh reloads attributes and discards uncommitted changes to them.
func (e *entry) refresh(names []any) error {
	dc, ref, err := e.bind()
	if err != nil {
		return err
	}
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = dotnet.ToText(name)
	}
	o, err := dc.Get(e.ctx(), ref, texts...)
	if err != nil {
		return e.thrown(err)
	}
	if e.cache == nil {
		e.cache = map[string]*attributeCache{}
	}
	for _, name := range texts {
		loaded := &attributeCache{name: name}
		for _, value := range o.Values(name) {
			switch v := value.(type) {
			case string, bool, int32:
			case int64:
				if v < math.MinInt32 || v > math.MaxInt32 {
					return notInAnEntry(name)
				}
				value = int32(v)
			default:
				return notInAnEntry(name)
			}
			loaded.items = append(loaded.items, value)
		}
		e.cache[fold(name)] = loaded
	}
	return nil
}

func notInAnEntry(name string) error {
	return dotnet.ExceptionNamed("System.NotSupportedException",
		"the sandbox does not support the values of %s in a directory entry", name)
}

// property returns an attribute, loading it on first use.
func (e *entry) property(name string) (any, error) {
	if e.cache[fold(name)] == nil {
		if err := e.refresh([]any{name}); err != nil {
			return nil, err
		}
	}
	return &dotnet.Instance{Type: e.values, Data: e.cache[fold(name)]}, nil
}

// commit writes all changes in one modification.
func (e *entry) commit() error {
	dc, ref, err := e.bind()
	if err != nil {
		return err
	}
	var changes []directory.Change
	for _, a := range e.cache {
		switch {
		case !a.changed:
		case len(a.items) == 0:
			changes = append(changes, directory.Change{Op: directory.OpClear, Name: a.name})
		default:
			changes = append(changes, directory.Change{Op: directory.OpReplace, Name: a.name, Values: a.items})
		}
	}
	if len(changes) == 0 {
		return nil
	}
	if err := dc.Modify(e.ctx(), ref, changes, directory.ModifyOptions{}); err != nil {
		return e.thrown(err)
	}
	for _, a := range e.cache {
		a.changed = false
	}
	return nil
}

// thrown translates a directory error into the exception that ADSI raises: a
// COMException whose HRESULT contains the Win32 code, or an
// UnauthorizedAccessException. Other errors are returned unchanged.
func (e *entry) thrown(err error) error {
	var failed *directory.Error
	if !errors.As(err, &failed) {
		return err
	}
	code := failed.Code
	if failed.Kind == directory.KindServerDown {
		code = codeServerDown
	}
	message, number := directory.Message(code, e.Culture), hresultWin32|uint32(code)
	if code == directory.CodeAccessDenied {
		denied := dotnet.ExceptionNamed("System.UnauthorizedAccessException", "%s", message)
		denied.HResult = int32(number)
		return denied
	}
	return comException(message, number)
}

func comException(message string, number uint32) error {
	thrown := dotnet.ExceptionNamed("System.Runtime.InteropServices.COMException", "%s", message)
	thrown.HResult = int32(number)
	thrown.Props.Set("ErrorCode", int32(number))
	return thrown
}
