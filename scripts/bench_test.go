package scripts

import "testing"

// BenchmarkDeclarations measures reading and checking all scripts.
func BenchmarkDeclarations(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := computeDeclarations(); err != nil {
			b.Fatal(err)
		}
	}
}
