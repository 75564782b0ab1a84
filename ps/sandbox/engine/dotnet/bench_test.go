package dotnet

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// batch is one frame of a list: 500 records of 40 fields.
func batch() *Array {
	out := &Array{}
	for i := range 500 {
		h := NewOrdered()
		for f := range 40 {
			var v any
			switch f % 5 {
			case 0:
				v = fmt.Sprintf("CN=User %d,OU=Sales,DC=corp,DC=example", i)
			case 1:
				v = nil
			case 2:
				v = f%2 == 0
			case 3:
				v = int64(133500000000000000 + i)
			default:
				v = &Array{Elem: TString, Items: []any{"smtp:a@corp.example", "Ünïcode"}}
			}
			h.Set(fmt.Sprintf("fieldName%d", f), v)
		}
		out.Items = append(out.Items, h)
	}
	return out
}

func BenchmarkToJSONBatch(b *testing.B) {
	v := batch()
	b.ReportAllocs()
	for b.Loop() {
		text, err := ToJSON(v, JSONOptions{Depth: 4, Compress: true})
		require.NoError(b, err)
		b.SetBytes(int64(len(text)))
	}
}

func BenchmarkFromJSONRequest(b *testing.B) {
	line := `{"id":"=17","script":"=New-GatewayUser","arguments":{"UserName":"=jdoe","DisplayName":"=John Doe \"x\"","OUPath":"=OU=Sales,DC=corp,DC=example","Field":["=guid","=username","=displayName","=manager"],"Enabled":true,"Limit":500,"Password":"!0"}}`
	b.ReportAllocs()
	for b.Loop() {
		_, err := FromJSON(line)
		require.NoError(b, err)
	}
	b.SetBytes(int64(len(line)))
}

func BenchmarkBase64AndUTF8OfOneMiB(b *testing.B) {
	text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("é0123456789abcdef", 1<<20/18)))
	encoding := static(b, "System.Text.Encoding", "UTF8")
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		raw, err := callStatic(Lookup("Convert"), "FromBase64String", text)
		require.NoError(b, err)
		s, err := CallMethod(encoding, "GetString", []any{raw})
		require.NoError(b, err)
		_, err = CallMethod(encoding, "GetBytes", []any{s})
		require.NoError(b, err)
	}
}

func BenchmarkCallSubstring(b *testing.B) {
	for b.Loop() {
		if _, err := CallMethod("CN=User,OU=Sales", "Substring", []any{int32(3), int32(4)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReplaceOfDistinguishedNames(b *testing.B) {
	for b.Loop() {
		if _, err := Replace("CN=John Smith,OU=Sales,DC=corp,DC=example", arr(`^(?:[^,\\]|\\.)+,`, ""), false); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkArraySortOrdinal(b *testing.B) {
	by := static(b, "StringComparer", "Ordinal")
	keys := make([]any, 10000)
	for i := range keys {
		keys[i] = fmt.Sprintf("USER%05d\x00CN=User,DC=corp", i*7919%10007)
	}
	for b.Loop() {
		k, items := &Array{Items: append([]any(nil), keys...)}, &Array{Items: append([]any(nil), keys...)}
		if _, err := callStatic(TArray, "Sort", k, items, by); err != nil {
			b.Fatal(err)
		}
	}
}
