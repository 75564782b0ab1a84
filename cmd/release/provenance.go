package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// statementType is the type of in-toto statements in an envelope.
const statementType = "application/vnd.in-toto+json"

// provenance returns the origin of a release's files as SLSA provenance 1.0 in an in-toto statement: the
// commit, the Go version and the modules. It is this machine's own statement, which is level 1 of SLSA.
func provenance(version, commit string, built map[string][]byte, stamp time.Time) ([]byte, error) {
	type digests map[string]string
	type resource struct {
		Name   string  `json:"name,omitempty"`
		URI    string  `json:"uri,omitempty"`
		Digest digests `json:"digest,omitempty"`
	}
	var subjects []resource
	for _, name := range slices.Sorted(maps.Keys(built)) {
		subjects = append(subjects, resource{Name: name,
			Digest: digests{"sha256": fmt.Sprintf("%x", sha256.Sum256(built[name]))}})
	}
	modules, err := os.ReadFile("go.sum")
	if err != nil {
		return nil, err
	}
	sources := []resource{
		{URI: "pkg:golang/std@" + strings.TrimPrefix(runtime.Version(), "go")},
		{Name: "go.sum", Digest: digests{"sha256": fmt.Sprintf("%x", sha256.Sum256(modules))}},
	}
	if commit != "" {
		sources = append([]resource{{Name: product, Digest: digests{"gitCommit": commit}}}, sources...)
	}
	return json.MarshalIndent(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":            "urn:adgateway:make-release:1",
				"externalParameters":   map[string]any{"version": version, "sourceDateEpoch": stamp.Unix()},
				"resolvedDependencies": sources,
			},
			"runDetails": map[string]any{"builder": map[string]any{"id": "urn:adgateway:make-release"}},
		},
	}, "", "  ")
}

// envelope returns a statement in a DSSE 1.0 envelope, signed with a key in PEM format. The
// signature is RSA (PKCS #1 1.5) or ECDSA with SHA-256, or Ed25519.
func envelope(statement []byte, keyFile string) ([]byte, error) {
	text, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	key, err := privateKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	signed := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(statementType), statementType, len(statement),
		statement)
	var signature []byte
	switch k := key.(type) {
	case ed25519.PrivateKey:
		signature = ed25519.Sign(k, signed)
	case *rsa.PrivateKey, *ecdsa.PrivateKey:
		sum := sha256.Sum256(signed)
		signature, err = key.Sign(rand.Reader, sum[:], crypto.SHA256)
	default:
		err = fmt.Errorf("%s: keys of the type %T do not sign", keyFile, key)
	}
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	type seal struct {
		KeyID string `json:"keyid"`
		Sig   []byte `json:"sig"`
	}
	line, err := json.Marshal(struct {
		PayloadType string `json:"payloadType"`
		Payload     []byte `json:"payload"`
		Signatures  []seal `json:"signatures"`
	}{statementType, statement, []seal{{fmt.Sprintf("%x", sha256.Sum256(public)), signature}}})
	return append(line, '\n'), err
}

// privateKey parses the key in a PEM file, in any of the usual forms without a password.
func privateKey(text []byte) (crypto.Signer, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if signer, ok := key.(crypto.Signer); ok {
				return signer, nil
			}
		}
		if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
			return key, nil
		}
		if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
			return key, nil
		}
	}
	return nil, errors.New("it holds no private key in PEM form without a password")
}
