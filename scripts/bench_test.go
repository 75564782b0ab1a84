package scripts

import "testing"

// BenchmarkDescribe measures reading and checking all scripts, which happens at every start.
func BenchmarkDescribe(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := describeAll(preludes, list); err != nil {
			b.Fatal(err)
		}
	}
}
