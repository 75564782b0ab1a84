package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Secrets sign the messages. There is one, or two during a rotation.
type Secrets [][]byte

const (
	secretPrefix = "whsec_"
	// Lengths of a secret in bytes, as Standard Webhooks requires.
	shortestSecret, longestSecret = 24, 64
	mostSecrets                   = 2
	// longestFile is longer than any valid file.
	longestFile = 4096
)

// ReadSecrets reads the file with a target's secrets. Each secret is on a line of its own, as
// whsec_ followed by the base64 of 24 to 64 bytes. With two secrets each message has two
// signatures, so the receiver can switch over at any time. The error names the line but does not
// quote from it.
func ReadSecrets(path string) (Secrets, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > longestFile {
		return nil, errors.New("it is not a file with one secret or two")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseSecrets(string(text))
}

func parseSecrets(text string) (Secrets, error) {
	var all Secrets
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		encoded, found := strings.CutPrefix(line, secretPrefix)
		secret, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case !found || err != nil:
			return nil, fmt.Errorf("line %d is not %s and base64; 'openssl rand -base64 32' makes what follows %[2]s",
				number, secretPrefix)
		case len(secret) < shortestSecret || len(secret) > longestSecret:
			return nil, fmt.Errorf("line %d: the secret has %d bytes, not %d to %d", number, len(secret),
				shortestSecret, longestSecret)
		}
		all = append(all, secret)
	}
	if len(all) == 0 || len(all) > mostSecrets {
		return nil, fmt.Errorf("it has %d secrets: write one, and during a rotation a second one, each in a line",
			len(all))
	}
	return all, nil
}

// sign returns the header webhook-signature.
func (s Secrets) sign(id, timestamp string, body []byte) string {
	signatures := make([]string, len(s))
	for i, secret := range s {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}
