package scripts

import "testing"

// BenchmarkDescribe is what reading and checking all scripts costs at every start.
func BenchmarkDescribe(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := describeAll(preludes, list); err != nil {
			b.Fatal(err)
		}
	}
}
