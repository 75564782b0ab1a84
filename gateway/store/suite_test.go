package store_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"adgateway/gateway/store"
	"adgateway/gateway/store/storetest"
)

var file = storetest.Driver{Lasts: true,
	Open: func(folder string, now func() time.Time) (store.Store, error) {
		s, aside, err := store.Open(store.Options{Path: filepath.Join(folder, "state.db"), Now: now})
		if err == nil && aside != "" {
			err = errors.Join(errors.New("set aside as "+aside), s.Close())
		}
		return s, err
	}}

var memory = storetest.Driver{Open: func(_ string, now func() time.Time) (store.Store, error) {
	return store.NewMemory(now), nil
}}

// leading is a driver whose files store batches in a journal first.
var leading = storetest.Driver{Lasts: true,
	Open: func(folder string, now func() time.Time) (store.Store, error) {
		f, _, err := store.Open(store.Options{Path: filepath.Join(folder, "state.db"), Now: now, Follows: true})
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

func TestLeading(t *testing.T) { storetest.Run(t, leading) }
func TestFile(t *testing.T)    { storetest.Run(t, file) }
func TestMemory(t *testing.T)  { storetest.Run(t, memory) }
