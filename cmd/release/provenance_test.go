package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func statement(t *testing.T) []byte {
	t.Helper()
	t.Chdir("../..")
	text, err := provenance("v1.2.3", "5d1b6f0e3a52c8f4f2b1a2b3c4d5e6f708192a3b", artifacts, stamp)
	require.NoError(t, err)
	return text
}

// The statement has the members that SLSA 1.0 and in-toto require.
func TestProvenance(t *testing.T) {
	text := statement(t)
	again, err := provenance("v1.2.3", "5d1b6f0e3a52c8f4f2b1a2b3c4d5e6f708192a3b", artifacts, stamp)
	require.NoError(t, err)
	assert.Equal(t, text, again)
	var content struct {
		Type    string `json:"_type"`
		Subject []struct {
			Name   string
			Digest map[string]string
		}
		PredicateType string
		Predicate     struct {
			BuildDefinition struct {
				BuildType            string
				ExternalParameters   map[string]any
				ResolvedDependencies []struct {
					Name, URI string
					Digest    map[string]string
				}
			}
			RunDetails struct{ Builder struct{ ID string } }
		}
	}
	require.NoError(t, json.Unmarshal(text, &content))
	assert.Equal(t, "https://in-toto.io/Statement/v1", content.Type)
	assert.Equal(t, "https://slsa.dev/provenance/v1", content.PredicateType)
	sums := map[string]string{}
	for _, s := range content.Subject {
		sums[s.Name] = s.Digest["sha256"]
	}
	require.Len(t, sums, len(artifacts))
	for name := range artifacts {
		assert.Equal(t, sumOf(name), sums[name])
	}
	build := content.Predicate.BuildDefinition
	assert.Regexp(t, "^urn:", build.BuildType)
	assert.Regexp(t, "^urn:", content.Predicate.RunDetails.Builder.ID)
	assert.Equal(t, "v1.2.3", build.ExternalParameters["version"])
	require.Len(t, build.ResolvedDependencies, 3)
	assert.Equal(t, "5d1b6f0e3a52c8f4f2b1a2b3c4d5e6f708192a3b",
		build.ResolvedDependencies[0].Digest["gitCommit"])
	assert.Regexp(t, `^pkg:golang/std@1\.\d+`, build.ResolvedDependencies[1].URI)
}

// OpenSSL verifies the signature. The signed text is composed here from the envelope, as DSSE defines it.
func TestEnvelopesAreVerifiedByOpenSSL(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is missing")
	}
	text := statement(t)
	short, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	traditional, err := x509.MarshalECPrivateKey(curve)
	require.NoError(t, err)
	for name, key := range map[string]crypto.Signer{"RSA": short, "ECDSA": curve, "EC PRIVATE KEY": curve,
		"Ed25519": edwards} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			block := &pem.Block{Type: "PRIVATE KEY"}
			block.Bytes, err = x509.MarshalPKCS8PrivateKey(key)
			require.NoError(t, err)
			if name == "EC PRIVATE KEY" {
				block = &pem.Block{Type: name, Bytes: traditional}
			}
			require.NoError(t, os.WriteFile(at("key.pem"), pem.EncodeToMemory(block), 0o600))
			line, err := envelope(text, at("key.pem"))
			require.NoError(t, err)
			var sealed struct {
				PayloadType, Payload string
				Signatures           []struct{ KeyID, Sig string }
			}
			require.NoError(t, json.Unmarshal(line, &sealed))
			assert.Equal(t, "application/vnd.in-toto+json", sealed.PayloadType)
			payload, err := base64.StdEncoding.DecodeString(sealed.Payload)
			require.NoError(t, err)
			assert.Equal(t, string(text), string(payload))
			require.Len(t, sealed.Signatures, 1)
			assert.Len(t, sealed.Signatures[0].KeyID, 64)
			signature, err := base64.StdEncoding.DecodeString(sealed.Signatures[0].Sig)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(at("signature"), signature, 0o600))
			openssl := func(args ...string) error {
				output, err := exec.CommandContext(t.Context(), "openssl", args...).CombinedOutput()
				if err != nil {
					return fmt.Errorf("%w: %s", err, output)
				}
				return nil
			}
			require.NoError(t, openssl("pkey", "-in", at("key.pem"), "-pubout", "-out", at("public.pem")))
			verify := func(content []byte) error {
				signed := append(fmt.Appendf(nil, "DSSEv1 28 application/vnd.in-toto+json %d ", len(content)), content...)
				require.NoError(t, os.WriteFile(at("signed"), signed, 0o600))
				if name == "Ed25519" {
					return openssl("pkeyutl", "-verify", "-pubin", "-inkey", at("public.pem"), "-rawin", "-in", at("signed"),
						"-sigfile", at("signature"))
				}
				return openssl("dgst", "-sha256", "-verify", at("public.pem"), "-signature", at("signature"),
					at("signed"))
			}
			assert.NoError(t, verify(payload))
			assert.Error(t, verify(append(payload, ' ')), "a changed statement is not what was signed")
		})
	}
	_, err = envelope(text, "README.md")
	assert.ErrorContains(t, err, "no private key")
}
