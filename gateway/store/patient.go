package store

import (
	"context"
	"time"
)

type patientKey struct{}

// Patient returns a context for calls of [File.Apply] and [File.Update] that need not be written at once.
// For the given time, such a call waits for a call of another caller, to share its batch and so its wait for
// the disk. It still returns only once its changes are stored. In a cluster, it is like any other call.
func Patient(ctx context.Context, patience time.Duration) context.Context {
	return context.WithValue(ctx, patientKey{}, patience)
}

// patienceOf returns how long a call waits for another one.
func patienceOf(ctx context.Context) time.Duration {
	patience, _ := ctx.Value(patientKey{}).(time.Duration)
	return patience
}
