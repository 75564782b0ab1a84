// Package bson replaces the codec that gin imports. No endpoint reads or writes BSON.
package bson

import "errors"

var errWithout = errors.New("BSON is not built in")

// Marshal returns an error.
func Marshal(any) ([]byte, error) { return nil, errWithout }

// Unmarshal returns an error.
func Unmarshal([]byte, any) error { return errWithout }
