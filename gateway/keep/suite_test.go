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

// leading is a file that stores its batches in a journal first.
var leading = keeptest.Driver{Lasts: true, Open: func(folder string, now func() time.Time) (keep.Store, error) {
	f, _, err := keep.Open(keep.Options{Path: filepath.Join(folder, "state.db"), Now: now, Follows: true})
	if err != nil {
		return nil, err
	}
	at, err := f.Point()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.Lead(&journal{last: at})
	return f, nil
}}

func TestLeading(t *testing.T) { keeptest.Run(t, leading) }
func TestFile(t *testing.T)    { keeptest.Run(t, file) }
func TestMemory(t *testing.T)  { keeptest.Run(t, memory) }
