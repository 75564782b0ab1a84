package dotnet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func types(names ...string) []*Type {
	var out []*Type
	for _, name := range names {
		out = append(out, Lookup(name))
	}
	return out
}

func TestMatchCatch(t *testing.T) {
	_, cast := Convert("x", TInt32)
	_, method := CallStatic(TGuid, "Parse", []any{"x"})
	_, null := CallMethod(nil, "Foo", nil)
	thrown := ThrowValue(ExceptionNamed("System.ArgumentException", "bad"))
	for _, c := range []struct {
		name    string
		err     error
		clauses [][]*Type
		index   int
		caught  string
	}{
		{"a cast is seen through", cast, [][]*Type{types("System.Management.Automation.PSInvalidCastException"), nil}, 0, "System.Management.Automation.PSInvalidCastException"},
		{"by a base of the inner type", cast, [][]*Type{types("System.Exception")}, 0, "System.Management.Automation.PSInvalidCastException"},
		{"catch-all keeps the outer one", cast, [][]*Type{nil}, 0, "System.Management.Automation.RuntimeException"},
		{"a method's exception is seen through", method, [][]*Type{types("System.FormatException")}, 0, "System.FormatException"},
		{"catch-all of a method", method, [][]*Type{nil}, 0, "System.Management.Automation.MethodInvocationException"},
		{"two types", null, [][]*Type{types("System.ArgumentException", "System.Management.Automation.RuntimeException")}, 0, "System.Management.Automation.RuntimeException"},
		{"the nearest type wins", thrown, [][]*Type{types("System.Exception"), types("System.ArgumentException")}, 1, "System.ArgumentException"},
		{"none fits", thrown, [][]*Type{types("System.FormatException")}, -1, ""},
	} {
		rec := AsRecord(c.err)
		require.NotNil(t, rec, c.name)
		i, caught := MatchCatch(rec, c.clauses)
		assert.Equal(t, c.index, i, c.name)
		if i >= 0 {
			assert.Equal(t, c.caught, caught.Exception.Type.Name, c.name)
			assert.Equal(t, rec.ErrorID, caught.ErrorID, c.name)
		}
	}
}

func TestThrowValue(t *testing.T) {
	r := ThrowValue("boom")
	assert.Equal(t, "boom", r.ErrorID)
	assert.Equal(t, OperationStopped, r.Category)
	assert.Equal(t, TRuntimeException, r.Exception.Type)
	h := NewHashtable()
	r = ThrowValue(h)
	assert.Equal(t, "System.Collections.Hashtable", r.ErrorID)
	assert.Same(t, h, r.Target)
	r = ThrowValue(NewError(ExceptionNamed("System.Exception", "m"), "Id.1", InvalidData, "tgt"))
	assert.Equal(t, "Id.1", r.ErrorID)
	assert.Equal(t, InvalidData, r.Category)
}

func TestMethodErrors(t *testing.T) {
	_, err := CallMethod("abc", "Substring", []any{int32(9)})
	r := AsRecord(err)
	assert.Equal(t, "ArgumentOutOfRangeException", r.ErrorID)
	assert.Equal(t, NotSpecified, r.Category)
	assert.Equal(t, `Exception calling "Substring" with "1" argument(s): "startIndex cannot be larger than length of string. (Parameter 'startIndex')"`, r.Exception.Message)
	assert.Equal(t, "System.ArgumentOutOfRangeException", r.Exception.Inner.Type.Name)

	_, err = CallMethod("a", "Nope", nil)
	assert.Equal(t, "!MethodNotFound: Method invocation failed because [System.String] does not contain a method named 'Nope'.", result(nil, err))
	_, err = CallMethod(nil, "Trim", nil)
	assert.Equal(t, "!InvokeMethodOnNull: You cannot call a method on a null-valued expression.", result(nil, err))
	_, err = CallMethod("a", "Substring", []any{int32(1), int32(2), int32(3)})
	assert.Equal(t, `!MethodCountCouldNotFindBest: Cannot find an overload for "Substring" and the argument count: "3".`, result(nil, err))
	_, _, err = GetIndex(nil, int32(0))
	assert.Equal(t, "!NullArray: Cannot index into a null array.", result(nil, err))
	err = SetMember(NewPSObject("a", int32(1)), "b", int32(2))
	assert.Equal(t, `!ExceptionWhenSetting: Exception setting "b": "The property 'b' cannot be found on this object. Verify that the property exists and can be set."`, result(nil, err))
	assert.Equal(t, TRuntimeException, AsRecord(err).Exception.Inner.Type)
}

func TestErrorRecordMembers(t *testing.T) {
	r := NewError(ExceptionNamed("System.ArgumentException", "m"), "Id,Class", ObjectNotFound, "tgt")
	r.Position = &Position{Line: 3, Column: 5}
	info, _, err := GetMember(r, "CategoryInfo")
	require.NoError(t, err)
	assert.Equal(t, "ObjectNotFound: (tgt:String) [], ArgumentException", ToText(info))
	name, _, _ := GetMember(info, "TargetName")
	assert.Equal(t, "tgt", name)
	category, _, _ := GetMember(info, "Category")
	assert.Equal(t, "ObjectNotFound", ToText(category))
	where, _, _ := GetMember(r, "InvocationInfo")
	line, _, _ := GetMember(where, "ScriptLineNumber")
	assert.Equal(t, int32(3), line)
	assert.Equal(t, "m", ToText(r))
}

func TestModuleExceptions(t *testing.T) {
	base := RegisterException("Test.BaseException", TException, "ErrorCode", "ServerErrorMessage")
	derived := RegisterException("Test.DerivedException", base, "ErrorCode", "ServerErrorMessage")
	v, err := New(derived, []any{"text"})
	require.NoError(t, err)
	e := v.(*Exception)
	e.Props.Set("ErrorCode", int32(8333))
	names := []string{}
	for _, p := range Properties(e) {
		names = append(names, p.Name)
	}
	assert.Contains(t, names, "ErrorCode")
	code, found, err := GetMember(e, "errorcode")
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, int32(8333), code)
	assert.True(t, derived.AssignableTo(base))
	i, _ := MatchCatch(NewError(e, "x", NotSpecified, nil), [][]*Type{{base}})
	assert.Equal(t, 0, i)
	assert.Panics(t, func() { RegisterException("Test.BaseException", TException) })
}

func TestExceptionConstructors(t *testing.T) {
	for _, c := range []struct {
		name    string
		args    []any
		message string
	}{
		{"System.Exception", nil, "Exception of type 'System.Exception' was thrown."},
		{"System.Exception", []any{"m"}, "m"},
		{"System.ArgumentException", []any{"bad arg", "p"}, "bad arg (Parameter 'p')"},
		{"System.ArgumentNullException", []any{"p"}, "Value cannot be null. (Parameter 'p')"},
		{"System.ArgumentOutOfRangeException", []any{"p", "msg"}, "msg (Parameter 'p')"},
		{"System.Management.Automation.ItemNotFoundException", []any{"no such user"}, "no such user"},
		{"System.ComponentModel.Win32Exception", []any{int32(5), "Access is denied"}, "Access is denied"},
	} {
		v, err := New(Lookup(c.name), c.args)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.message, v.(*Exception).Message)
		assert.Equal(t, c.name, TypeOf(v).Name)
	}
	v, err := New(Lookup("System.Exception"), []any{"outer", ExceptionNamed("System.FormatException", "inner")})
	require.NoError(t, err)
	assert.Equal(t, "inner", v.(*Exception).Inner.Message)
	assert.Equal(t, int32(-2146233088), v.(*Exception).HResult)
}
