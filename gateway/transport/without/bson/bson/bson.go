// Package bson stands in for the codec that gin refers to. No endpoint takes BSON or answers with it.
package bson

import "errors"

var errWithout = errors.New("BSON is not built in")

// Marshal fails.
func Marshal(any) ([]byte, error) { return nil, errWithout }

// Unmarshal fails.
func Unmarshal([]byte, any) error { return errWithout }
