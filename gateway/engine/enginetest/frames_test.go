package enginetest

import (
	"bytes"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFrame: a message ends where its length says, even if its payload looks like a message.
func TestFrame(t *testing.T) {
	for text, want := range map[string]struct {
		length    int
		isMessage bool
	}{
		"":                                  {0, false},
		"PING\r":                            {0, false},
		"PING\r\nPONG\r\n":                  {6, false},
		"SUB a.b 1\r\n":                     {11, false},
		"+OK\r\n":                           {5, false},
		"INFO {\"x\": 7}\r\n":               {15, false},
		"-ERR 'no such thing'\r\n":          {22, false},
		"PUB a 2\r\nhi\r":                   {0, false},
		"PUB a 2\r\nhi\r\nPING\r\n":         {13, true},
		"pub a r 6\r\nPING\r\n\r\nPING\r\n": {19, true},
		"MSG a 1 0\r\n\r\n":                 {13, true},
		"HMSG a 1 r 3 5\r\nabchi\r\n":       {23, true},
		"HPUB a r 3 5\r\nabchi\r\nPUB":      {21, true},
	} {
		length, isMessage := frame([]byte(text))
		assert.Equal(t, want.length, length, "%q", text)
		assert.Equal(t, want.isMessage, isMessage, "%q", text)
	}
}

// TestFramesAreRepeatedAndReordered: only whole messages are repeated or reordered, no matter in which pieces
// they arrive.
func TestFramesAreRepeatedAndReordered(t *testing.T) {
	target, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer target.Close()
	got := make(chan []byte, 1)
	go func() {
		defer close(got)
		conn, err := target.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		var all []byte
		buffer := make([]byte, 100)
		for bytes.Count(all, []byte("hi")) < 4 || !bytes.Contains(all, []byte("PING\r\n")) {
			n, err := conn.Read(buffer)
			if err != nil {
				break
			}
			all = append(all, buffer[:n]...)
		}
		got <- all
	}()
	wire, err := NewClientWire(target.Addr().String())
	require.NoError(t, err)
	defer wire.Close()
	wire.Mischief(Mischief{Double: 1, Late: 1, By: 20 * time.Millisecond})
	conn, err := net.Dial("tcp", wire.Address())
	require.NoError(t, err)
	defer conn.Close()
	for _, piece := range []string{"PUB a 2\r", "\nhi\r\nPUB", " b 2\r\nhi\r\nPI", "NG\r\n"} {
		_, err = conn.Write([]byte(piece))
		require.NoError(t, err)
		time.Sleep(time.Millisecond) // so most of them are pieces of their own
	}
	all := string(<-got)
	for text, times := range map[string]int{"PUB a 2\r\nhi\r\n": 2, "PUB b 2\r\nhi\r\n": 2, "PING\r\n": 1} {
		assert.Equal(t, times, bytes.Count([]byte(all), []byte(text)), "%q in %q", text, all)
	}
	twice, late := wire.Mangled()
	assert.Equal(t, []int{2, 2}, []int{twice, late})
}
