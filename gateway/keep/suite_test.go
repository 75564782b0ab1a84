package keep_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"adgateway/gateway/keep"
	"adgateway/gateway/keep/keeptest"
)

var file = keeptest.Driver{Lasts: true, Open: func(folder string, now func() time.Time) (keep.Store, error) {
	s, aside, err := keep.Open(keep.Options{Path: filepath.Join(folder, "state.db"), Now: now})
	if err == nil && aside != "" {
		err = errors.Join(errors.New("set aside as "+aside), s.Close())
	}
	return s, err
}}

var memory = keeptest.Driver{Open: func(_ string, now func() time.Time) (keep.Store, error) {
	return keep.NewMemory(now), nil
}}

func TestFile(t *testing.T)   { keeptest.Run(t, file) }
func TestMemory(t *testing.T) { keeptest.Run(t, memory) }
