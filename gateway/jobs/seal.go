package jobs

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"sync"
)

// ErrNoSecrets means that the data key of a job, and with it its secrets, was destroyed.
var ErrNoSecrets = errors.New("the secrets of the list are not kept any more")

func cipherOf(dataKey []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(dataKey)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sealSecrets encrypts the secrets of an item, bound to its key.
func sealSecrets(dataKey []byte, itemKey string, secrets map[string]string) ([]byte, error) {
	aead, err := cipherOf(dataKey)
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(secrets)
	return aead.Seal(nil, nil, plain, []byte(itemKey)), err
}

// seals opens the secrets of items. It keeps the data keys of running jobs in memory.
type seals struct {
	mu   sync.Mutex
	keys map[string][]byte // keyed by root
}

// open returns the secrets of an item.
func (s *seals) open(ctx context.Context, from db, root string, spec *Spec) (map[string]string, error) {
	if len(spec.Sealed) == 0 {
		return nil, nil
	}
	s.mu.Lock()
	dataKey := s.keys[root]
	s.mu.Unlock()
	if dataKey == nil {
		var err error
		if dataKey, err = from.dataKey(ctx, root); errors.Is(err, ErrAbsent) {
			return nil, ErrNoSecrets
		} else if err != nil {
			return nil, err
		}
		s.mu.Lock()
		if s.keys == nil {
			s.keys = map[string][]byte{}
		}
		s.keys[root] = dataKey
		s.mu.Unlock()
	}
	aead, err := cipherOf(dataKey)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, nil, spec.Sealed, []byte(spec.Key))
	if err != nil {
		return nil, err
	}
	var secrets map[string]string
	return secrets, json.Unmarshal(plain, &secrets)
}

// forget removes the data key of a root from memory.
func (s *seals) forget(root string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.keys[root])
	delete(s.keys, root)
}
