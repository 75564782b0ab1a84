package syntax

import (
	"fmt"
	"reflect"
	"strings"
)

// dump writes a tree without its positions, for comparing.
func dump(n Node) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(n), 0)
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value, depth int) {
	indent := strings.Repeat("  ", depth)
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			b.WriteString("nil\n")
			return
		}
		dumpValue(b, v.Elem(), depth)
	case reflect.Struct:
		t := v.Type()
		fmt.Fprintf(b, "%s\n", t.Name())
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Type == reflect.TypeFor[Span]() || f.Type == reflect.TypeFor[*Source]() || v.Field(i).IsZero() {
				continue
			}
			fmt.Fprintf(b, "%s  %s: ", indent, f.Name)
			dumpValue(b, v.Field(i), depth+1)
		}
	case reflect.Slice:
		b.WriteString("\n")
		for i := range v.Len() {
			fmt.Fprintf(b, "%s  - ", indent)
			dumpValue(b, v.Index(i), depth+1)
		}
	default:
		fmt.Fprintf(b, "%#v\n", v.Interface())
	}
}
