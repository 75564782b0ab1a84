package every

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		start := time.Now()
		var at []time.Duration
		Do(ctx, time.Second, func() { at = append(at, time.Since(start)) })
		assert.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, at)
		Do(ctx, time.Nanosecond, func() { t.Error("called after the end") })
	})
}
