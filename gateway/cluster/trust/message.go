package trust

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
)

// mostMessage is the maximum length of a message in bytes.
const mostMessage = 64 << 10

// request is the message of a gateway that joins. In a message it follows a proof that the sender knows the
// secret.
type request struct {
	Cluster     string   `json:"cluster"`
	Gateway     string   `json:"gateway"`
	Request     []byte   `json:"request"` // PKCS #10 in DER, for its own key
	Hosts       []string `json:"hosts"`
	HopAddress  string   `json:"hopAddress"`
	NodeAddress string   `json:"nodeAddress"`
	// ClientAddress and NodeAddress are the addresses of the node on the host of the gateway, if it
	// has one.
	ClientAddress string `json:"clientAddress"`
}

// answer is the answer to a request.
type answer struct {
	Refused     Reason  `json:"refused,omitempty"`
	Text        string  `json:"text,omitempty"` // explains the reason, and what to do
	Certificate []byte  `json:"certificate,omitempty"`
	Members     Members `json:"members"`
	Secret      []byte  `json:"secret,omitempty"` // content of the cluster's key file
}

// Reason is the reason why a gateway cannot join.
type Reason string

// The reasons.
const (
	AnotherCluster Reason = "another_cluster"
	NotInvited     Reason = "not_invited"
	WrongSecret    Reason = "wrong_secret"
	TooManyTries   Reason = "too_many_tries"
	Used           Reason = "used"
	Expired        Reason = "expired"
	Malformed      Reason = "malformed"
	Unavailable    Reason = "unavailable" // the request may succeed later
)

// Refusal is the error of a join that was refused.
type Refusal struct {
	Reason Reason
	Text   string // a sentence that explains what to do
}

func (r *Refusal) Error() string { return r.Text }

func refuse(reason Reason, format string, values ...any) error {
	return &Refusal{reason, fmt.Sprintf(format, values...)}
}

// proofKey derives the key for proofs from a secret.
func proofKey(secret string) ([]byte, error) {
	return hkdf.Key(sha256.New, []byte(secret), nil, "adgateway join", sha256.Size)
}

// proof returns a proof that the sender of a request knows the secret. The proof is worthless on
// another connection, or with another request.
func proof(key []byte, s *tls.ConnectionState, request []byte) ([]byte, error) {
	channel, err := s.ExportKeyingMaterial("EXPORTER-adgateway-join", nil, sha256.Size)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(channel)
	mac.Write(request)
	return mac.Sum(nil), nil
}

// parseRequest returns a request, the public key for the certificate, and the key's digest.
func parseRequest(text []byte) (q request, public *ecdsa.PublicKey, key string, err error) {
	if err := json.Unmarshal(text, &q); err != nil {
		return q, nil, "", err
	}
	if err := errors.Join(checkName("cluster", q.Cluster), checkName("gateway", q.Gateway)); err != nil {
		return q, nil, "", err
	}
	for _, address := range []string{q.HopAddress, q.NodeAddress, q.ClientAddress} {
		if _, _, err := net.SplitHostPort(address); address != "" && err != nil {
			return q, nil, "", err
		}
	}
	csr, err := x509.ParseCertificateRequest(q.Request)
	if err != nil {
		return q, nil, "", err
	}
	public, ok := csr.PublicKey.(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return q, nil, "", errors.New("the key is not an ECDSA key on P-256")
	}
	sum := sha256.Sum256(csr.RawSubjectPublicKeyInfo)
	return q, public, hex.EncodeToString(sum[:]), csr.CheckSignature()
}

// parseAnswer returns an answer, or the [Refusal] in it.
func parseAnswer(text []byte) (a answer, err error) {
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if a.Refused != "" {
		return a, &Refusal{a.Refused, a.Text}
	}
	if err := a.Members.check(); err != nil {
		return a, fmt.Errorf("the answer has no list of gateways: %w", err)
	}
	return a, nil
}

// writeMessage writes a message, preceded by its length.
func writeMessage(w io.Writer, message []byte) error {
	if len(message) > mostMessage {
		return fmt.Errorf("a message of %d bytes is too long", len(message))
	}
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	return err
}

// readMessage reads a message that writeMessage has written. It does not read beyond the message.
func readMessage(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > mostMessage {
		return nil, fmt.Errorf("a message of %d bytes is too long", length)
	}
	message := make([]byte, length)
	_, err := io.ReadFull(r, message)
	return message, err
}
