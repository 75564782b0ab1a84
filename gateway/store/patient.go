package store

import (
	"context"
	"time"
)

// mostPatience is how long a patient call waits for another one.
const mostPatience = 10 * time.Millisecond

type patientKey struct{}

// Patient returns a context for calls of [File.Apply] and [File.Update] that need not be written at once.
// Such a call waits a little for a call of another caller, to share its batch and so its wait for the disk.
// It still returns only once its changes are stored. In a cluster, it is like any other call.
func Patient(ctx context.Context) context.Context { return context.WithValue(ctx, patientKey{}, true) }

func isPatient(ctx context.Context) bool { return ctx.Value(patientKey{}) != nil }
