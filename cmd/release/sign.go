package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// signer signs files for Windows with osslsigncode. A nil signer returns them unchanged.
type signer struct {
	certificate string // PEM file with the certificate and its chain
	key         string // PEM file
	timestamps  string // URL of an RFC 3161 authority; if empty, the signature expires with the certificate
}

// newSigner returns a signer, or nil if neither certificate nor key is given.
func newSigner(certificate, key, timestamps string) (*signer, error) {
	switch {
	case certificate == "" && key == "":
		return nil, nil
	case certificate == "" || key == "":
		return nil, errors.New("-sign-certificate and -sign-key belong together")
	}
	if _, err := exec.LookPath("osslsigncode"); err != nil {
		return nil, errors.New("osslsigncode is missing, which signs for Windows (apt-get install osslsigncode)")
	}
	return &signer{certificate, key, timestamps}, nil
}

// sign returns a file with a verified signature. The suffix of its name determines the kind
// of file: .exe, .msi or .ps1.
func (s *signer) sign(ctx context.Context, name string, content []byte) ([]byte, error) {
	if s == nil {
		return content, nil
	}
	dir, err := os.MkdirTemp("", "sign")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	from, to := filepath.Join(dir, "unsigned-"+name), filepath.Join(dir, name)
	if err := os.WriteFile(from, content, 0o600); err != nil {
		return nil, err
	}
	arguments := []string{"sign", "-certs", s.certificate, "-key", s.key, "-h", "sha256", "-n", product, "-in",
		from, "-out", to}
	if s.timestamps != "" {
		arguments = append(arguments, "-ts", s.timestamps)
	}
	if err := run(ctx, arguments...); err != nil {
		return nil, err
	}
	if err := run(ctx, "verify", "-CAfile", s.certificate, "-in", to); err != nil {
		return nil, fmt.Errorf("the signature of %s cannot be verified: %w", name, err)
	}
	return os.ReadFile(to)
}

// run runs osslsigncode. The error contains its output.
func run(ctx context.Context, arguments ...string) error {
	output, err := exec.CommandContext(ctx, "osslsigncode", arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("osslsigncode %s: %w\n%s", arguments[0], err, output)
	}
	return nil
}
