package store_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

// note is a value whose shape the second format has changed.
type note struct {
	store.Formatted
	Texts []string
}

func (n *note) MarshalJSON() ([]byte, error) {
	if n.V < 2 {
		return json.Marshal(map[string]any{"v": n.V, "text": n.Texts[0]})
	}
	return json.Marshal(map[string]any{"v": n.V, "texts": n.Texts})
}

func (n *note) UnmarshalJSON(text []byte) error {
	var kept struct {
		store.Formatted
		Text  string
		Texts []string
	}
	err := json.Unmarshal(text, &kept)
	if n.Formatted, n.Texts = kept.Formatted, kept.Texts; n.V < 2 {
		n.Texts = []string{kept.Text}
	}
	return err
}

func TestFormats(t *testing.T) {
	for name, test := range map[string]struct {
		newest, set int // 0 if not set
		writes      string
	}{
		"alone":                {0, 0, `{"text":"a","v":1}`},
		"a later one, alone":   {2, 0, `{"texts":["a"],"v":2}`},
		"beside an older one":  {2, 1, `{"text":"a","v":1}`},
		"when all read it":     {2, 2, `{"texts":["a"],"v":2}`},
		"never what it cannot": {1, 2, `{"text":"a","v":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Seal(t, store.NewMemory(nil))
			if test.newest > 0 {
				db.SetNewest(test.newest)
			}
			if test.set > 0 {
				db.SetFormat(test.set)
			}
			value := note{Formatted: store.Formatted{V: 7}, Texts: []string{"a"}}
			text, err := store.Encode(db, value)
			require.NoError(t, err)
			assert.JSONEq(t, test.writes, string(text))
			assert.Equal(t, 7, value.V, "the value stays as it is")
			var read note
			require.NoError(t, store.Decode(db, text, &read))
			assert.Equal(t, value.Texts, read.Texts)
		})
	}
}

func TestNewerFormatsAreNotDecoded(t *testing.T) {
	db := storetest.Seal(t, store.NewMemory(nil))
	read := note{Texts: []string{"as it was"}}
	for _, text := range []string{
		`{"v":2,"texts":["a"]}`, `{"v":99}`, `{"texts":["a"],"v":2}`, `{"v": 2,"texts":["a"]}`,
	} {
		require.ErrorIs(t, store.Decode(db, []byte(text), &read), store.ErrNewer)
		assert.Equal(t, []string{"as it was"}, read.Texts)
	}
	require.Error(t, store.Decode(db, []byte(`{"v":`), &read))
	require.NoError(t, store.Decode(db, []byte(`{"text":"before there were formats"}`), &read))
	assert.Equal(t, []string{"before there were formats"}, read.Texts)
	db.SetNewest(2)
	require.NoError(t, store.Decode(db, []byte(`{"v":2,"texts":["a"]}`), &read))
	assert.Equal(t, []string{"a"}, read.Texts)
}
