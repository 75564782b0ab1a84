package dotnet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNoClauseCatchesARefusal(t *testing.T) {
	assert.Nil(t, AsRecord(Refuse("x")))
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
	e, err := New(Lookup("System.InvalidOperationException"), []any{"m"})
	require.NoError(t, err)
	assert.Equal(t, int32(-2146233079), e.(*Exception).HResult)
}
