package negotiate

import (
	"crypto/sha256"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/messages"
)

// useOf identifies the use of a ticket by a digest of its authenticator. The authenticator is
// encrypted together with its checksum, so it cannot be changed without the key, and the same
// authenticator in another wrapping is the same use.
func useOf(req *messages.APReq) []byte {
	sum := sha256.Sum256(req.EncryptedAuthenticator.Cipher)
	return sum[:]
}

// parseRequest returns the AP-REQ of a context token. The library panics on some truncated ones.
func parseRequest(token []byte) (req *messages.APReq, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			req, err = nil, refuse(Unreadable, fmt.Sprintf("the ticket is damaged: %v", reason))
		}
	}()
	message, err := unframe(token)
	if err != nil {
		return nil, err
	}
	req = &messages.APReq{}
	if err := req.Unmarshal(message); err != nil {
		return nil, refuse(Unreadable, "the ticket cannot be read: "+err.Error())
	}
	return req, nil
}
