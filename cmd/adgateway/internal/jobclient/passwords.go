package jobclient

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/crypto/curve25519"
	"golang.org/x/crypto/nacl/box"
)

// Passwords is an X25519 key pair. The gateway seals the passwords that it generates for the items of a job
// with the public key (as NaCl anonymous boxes), so only the holder of the private key can read them in the
// result.
type Passwords struct{ public, private *[32]byte }

// NewPasswords makes a key pair.
func NewPasswords() (*Passwords, error) {
	public, private, err := box.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Passwords{public, private}, nil
}

// ParsePasswords parses a key pair returned by [Passwords.Key].
func ParsePasswords(key []byte) (*Passwords, error) {
	private, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(key)))
	if err != nil || len(private) != 32 {
		return nil, errors.New("this is no key of the command 'job submit --passwords-to'")
	}
	public, err := curve25519.X25519(private, curve25519.Basepoint)
	if err != nil {
		return nil, err
	}
	return &Passwords{(*[32]byte)(public), (*[32]byte)(private)}, nil
}

// Key returns the private key, as text.
func (p *Passwords) Key() []byte {
	return []byte(base64.StdEncoding.EncodeToString(p.private[:]) + "\n")
}

// ResultKey returns the public key in the encoding of the gateway.
func (p *Passwords) ResultKey() string { return base64.StdEncoding.EncodeToString(p.public[:]) }

// The columns of results that this package reads and writes.
const (
	sealedColumn   = "Sealed"
	passwordColumn = "Password"
)

// errOtherKey means that a sealed password cannot be opened.
var errOtherKey = errors.New("the passwords of the result are sealed to another key: was the job " +
	"submitted with this --passwords-to?")

func (p *Passwords) open(sealed string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	text, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return "", errOtherKey
	}
	plain, ok := box.OpenAnonymous(nil, text, p.public, p.private)
	if !ok {
		return "", errOtherKey
	}
	return string(plain), nil
}

// Open copies a result with its passwords opened and returns their number. The sealed value
// is replaced by the column Password in CSV and by the member password in NDJSON.
func (p *Passwords) Open(w io.Writer, result io.Reader) (int, error) {
	text, err := io.ReadAll(result)
	if err != nil {
		return 0, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return p.openLines(w, text)
	}
	return p.openTable(w, text)
}

func (p *Passwords) openTable(w io.Writer, text []byte) (n int, err error) {
	mark := []byte("\ufeff")
	body := bytes.TrimPrefix(text, mark)
	first, _, _ := bytes.Cut(body, []byte("\n"))
	rows := csv.NewReader(bytes.NewReader(body))
	rows.Comma = separatorBefore(string(first))
	out := csv.NewWriter(w)
	out.Comma, out.UseCRLF = rows.Comma, true
	if len(body) < len(text) {
		if _, err := w.Write(mark); err != nil {
			return 0, err
		}
	}
	at := -1
	for line := 1; ; line++ {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			out.Flush()
			return n, out.Error()
		}
		if err != nil {
			return n, fmt.Errorf("the result cannot be read: %w", err)
		}
		if line == 1 {
			if at = lastSealed(cells); at < 0 {
				return 0, errNotSealed
			}
			cells[at] = passwordColumn
			if slices.ContainsFunc(cells[:at],
				func(name string) bool { return strings.EqualFold(name, passwordColumn) }) {
				cells[at] = "Job" + passwordColumn
			}
		} else {
			if cells[at], err = p.open(cells[at]); err != nil {
				return n, err
			}
			if cells[at] != "" {
				n++
			}
		}
		if err := out.Write(cells); err != nil {
			return n, err
		}
	}
}

// errNotSealed means that a result contains no passwords.
var errNotSealed = errors.New("the result has no sealed passwords: they are given out once")

// lastSealed returns the index of the column with sealed passwords, which follows the columns of the list.
func lastSealed(header []string) int {
	for i := len(header) - 1; i >= 0; i-- {
		if header[i] == sealedColumn || header[i] == "Job"+sealedColumn {
			return i
		}
	}
	return -1
}

// separatorBefore returns the separator of a result. Its first row ends with the names that the gateway adds.
func separatorBefore(header string) rune {
	if at := strings.LastIndex(header, sealedColumn); at > 0 {
		before := strings.TrimSuffix(header[:at], "Job")
		for _, separator := range ",;\t" {
			if strings.HasSuffix(before, string(separator)) {
				return separator
			}
		}
	}
	return ','
}

func (p *Passwords) openLines(w io.Writer, text []byte) (n int, err error) {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var item map[string]json.RawMessage
		if err := json.Unmarshal(line, &item); err != nil {
			return n, fmt.Errorf("the result cannot be read: %w", err)
		}
		var sealed string
		if raw, ok := item["sealed"]; ok {
			if err := json.Unmarshal(raw, &sealed); err != nil {
				return n, fmt.Errorf("the result cannot be read: %w", err)
			}
			delete(item, "sealed")
		}
		password, err := p.open(sealed)
		if err != nil {
			return n, err
		}
		if password != "" {
			n++
			if item["password"], err = json.Marshal(password); err != nil {
				return n, err
			}
		}
		if err := out.Encode(item); err != nil {
			return n, err
		}
	}
	return n, nil
}
