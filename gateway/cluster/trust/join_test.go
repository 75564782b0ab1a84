package trust

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"adgateway/gateway/keyring"
	"adgateway/gateway/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newMemory() store.Store { return store.NewMemory(nil) }

func reasonOf(err error) Reason {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

func TestJoin(t *testing.T) {
	c := newCluster(t, "corp")
	c.serve(t)
	i := c.invite(t, "gw2")
	assert.Equal(t, "adgateway cluster join --cluster corp --gateway gw2 --address "+c.addr+" --authority "+
		Digest(c.first.Authority())+" --secret "+i.Secret, JoinCommand(i))
	f := folder(t)
	i.Authority = strings.ToUpper(i.Authority)
	id, err := Join(t.Context(), i,
		Member{Name: "any", Hosts: []string{"h2"}, HopAddress: "h2:7443", NodeAddress: "h2:6222", Key: "any"}, f)
	require.NoError(t, err)
	require.NoError(t, <-c.served)
	assert.Equal(t, "gw2", id.Gateway)
	assert.Equal(t, "corp", id.Cluster)

	list := c.list(t)()
	require.Len(t, list.Gateways, 2)
	got := list.Gateways[1]
	assert.True(t, c.clock.now().Equal(got.Joined))
	assert.Equal(t, Member{Name: "gw2", Hosts: []string{"h2"}, HopAddress: "h2:7443", Joined: got.Joined,
		Key: got.Key}, got, "the cluster has no nodes")
	copied, err := LoadMembers(f.MembersFile())
	require.NoError(t, err)
	assert.Equal(t, list.Gateways, copied.Gateways)
	assert.Equal(t, c.secret, decoded(t, f.SecretFile()))
	_, err = keyring.KeyFile(f.SecretFile())
	require.NoError(t, err, "the key file is one")
	if runtime.GOOS != "windows" {
		entries, err := os.ReadDir(f.Path)
		require.NoError(t, err)
		assert.Len(t, entries, 5)
		for _, entry := range entries {
			info, err := entry.Info()
			require.NoError(t, err)
			assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), entry.Name())
		}
	}
	_, ofClient, ofServer := connect(t, id.Client(c.list(t), "gw1"), c.first.Server(c.list(t)))
	require.NoError(t, errors.Join(ofClient, ofServer))

	_, err = Join(t.Context(), i, Member{}, f)
	require.NoError(t, err, "it has joined, and asks nobody")
	assert.Empty(t, c.served)
	i.Gateway = "gw3"
	_, err = Join(t.Context(), i, Member{}, f)
	require.ErrorContains(t, err, "has the files of gateway gw2 of the cluster corp")
	i.Authority = strings.Repeat("0", 64)
	_, err = Join(t.Context(), i, Member{}, f)
	require.ErrorContains(t, err, `has the files of the cluster "corp"`)
}

// TestJoinsThatAreRefused: each refusal gives a reason and does not change the list.
func TestJoinsThatAreRefused(t *testing.T) {
	for what, try := range map[string]struct {
		change func(t *testing.T, c *cluster, i *Invitation)
		reason Reason
		text   string
	}{
		"another cluster's name": {func(_ *testing.T, _ *cluster, i *Invitation) { i.Cluster = "lab" }, "", "check --cluster"},
		"not invited":            {func(_ *testing.T, _ *cluster, i *Invitation) { i.Gateway = "gw3" }, NotInvited, "gateway gw3 is not invited to the cluster corp"},
		"the secret of another":  {func(t *testing.T, c *cluster, i *Invitation) { i.Secret = c.invite(t, "gw3").Secret }, WrongSecret, "is not from the last invitation of gateway gw2"},
		"the secret before":      {func(t *testing.T, c *cluster, i *Invitation) { c.invite(t, "gw2") }, WrongSecret, "cluster invite"},
		"no secret":              {func(_ *testing.T, _ *cluster, i *Invitation) { i.Secret = "" }, WrongSecret, "check --secret"},
		"expired":                {func(_ *testing.T, c *cluster, _ *Invitation) { c.clock.add(time.Hour) }, Expired, "expired at"},
		"removed meanwhile": {func(t *testing.T, c *cluster, _ *Invitation) {
			require.NoError(t, c.Remove(t.Context(), "gw2"))
		}, NotInvited, "is not invited"},
		"used by another host": {func(t *testing.T, c *cluster, i *Invitation) {
			_, err := Join(t.Context(), *i, Member{}, folder(t))
			require.NoError(t, err)
		}, Used, "'adgateway cluster leave --gateway gw2'"},
		"another authority": {func(_ *testing.T, _ *cluster, i *Invitation) { i.Authority = strings.Repeat("0", 64) }, "", "the secret was not sent"},
		"nobody there":      {func(_ *testing.T, _ *cluster, i *Invitation) { i.Address = "127.0.0.1:0" }, "", "check --address"},
	} {
		t.Run(what, func(t *testing.T) {
			c := newCluster(t, "corp")
			c.serve(t)
			i := c.invite(t, "gw2")
			try.change(t, c, &i)
			before := c.list(t)()
			f := folder(t)
			_, err := Join(t.Context(), i, Member{}, f)
			require.ErrorContains(t, err, try.text)
			assert.Equal(t, try.reason, reasonOf(err))
			assert.Equal(t, before, c.list(t)())
			_, err = f.Identity()
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.ErrorContains(t, err, "cluster join")
			assert.NoFileExists(t, f.SecretFile())
		})
	}
}

// TestTheOtherSideIsCheckedFirst: a server that presents a different authority receives nothing, and a server
// that presents the right authority without having its key cannot continue.
func TestTheOtherSideIsCheckedFirst(t *testing.T) {
	c, lab := newCluster(t, "corp"), newCluster(t, "corp")
	i := c.invite(t, "gw2")
	for what, shown := range map[string]tls.Certificate{
		"its own authority":              lab.first.shown,
		"our authority behind another's": {Certificate: [][]byte{lab.first.shown.Certificate[0], c.first.authority.Raw}, PrivateKey: lab.first.shown.PrivateKey},
		"one of ours without its key":    {Certificate: c.first.shown.Certificate, PrivateKey: lab.first.shown.PrivateKey},
	} {
		t.Run(what, func(t *testing.T) {
			listener, err := tls.Listen("tcp", "127.0.0.1:0",
				&tls.Config{Certificates: []tls.Certificate{shown}, NextProtos: []string{JoinProtocol}})
			require.NoError(t, err)
			defer listener.Close()
			got := make(chan []byte, 1)
			go func() {
				defer close(got)
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				text, _ := io.ReadAll(conn)
				got <- text
			}()
			i.Address = listener.Addr().String()
			_, err = Join(t.Context(), i, Member{}, folder(t))
			require.Error(t, err)
			assert.Empty(t, <-got)
		})
	}
}

// TestWrongSecretsAreCounted: after ten wrong secrets the right one is refused, too, but a new invitation
// works.
func TestWrongSecretsAreCounted(t *testing.T) {
	c := newCluster(t, "corp")
	c.serve(t)
	right := c.invite(t, "gw2")
	wrong := right
	wrong.Secret = "wrong"
	for range mostTries {
		_, err := Join(t.Context(), wrong, Member{}, folder(t))
		require.Equal(t, WrongSecret, reasonOf(err))
	}
	for _, i := range []Invitation{wrong, right} {
		_, err := Join(t.Context(), i, Member{}, folder(t))
		require.Equal(t, TooManyTries, reasonOf(err))
	}
	c.join(t, "gw2")
}

// TestAJoinRequestIsBoundToItsConnection: somebody who has read an unanswered request can neither
// join with it on another connection nor modify it.
func TestAJoinRequestIsBoundToItsConnection(t *testing.T) {
	c := newCluster(t, "corp")
	c.serve(t)
	i := c.invite(t, "gw2")
	read := make(chan []byte, 1)
	i.Address = dropping(t, c, func(_ *tls.ConnectionState, message []byte) { read <- message })
	_, err := Join(t.Context(), i, Member{}, folder(t))
	require.Error(t, err)
	message := <-read
	require.NotContains(t, string(message), i.Secret)
	require.Equal(t, WrongSecret, reasonOf(send(t, c, func(*tls.ConnectionState) []byte { return message })))

	key, err := proofKey(i.Secret)
	require.NoError(t, err)
	text := message[sha256.Size:]
	require.Equal(t, WrongSecret, reasonOf(send(t, c, func(s *tls.ConnectionState) []byte {
		proven, err := proof(key, s, text)
		require.NoError(t, err)
		return append(proven, bytes.Replace(text, []byte(`"hosts":null`), []byte(`"hosts":["h"]`), 1)...)
	})))
	require.NoError(t, send(t, c, func(s *tls.ConnectionState) []byte {
		proven, err := proof(key, s, text)
		require.NoError(t, err)
		return append(proven, text...)
	}))
}

// TestRequestsThatNoGatewaySends: the admitting side repeats all checks of the joining side.
func TestRequestsThatNoGatewaySends(t *testing.T) {
	c := newCluster(t, "corp")
	c.serve(t)
	key, err := proofKey(c.invite(t, "gw2").Secret)
	require.NoError(t, err)
	text := exampleRequest(t)
	for what, try := range map[string]struct {
		text   []byte
		reason Reason
	}{
		"another cluster": {bytes.Replace(text, []byte("corp"), []byte("lab"), 1), AnotherCluster},
		"no cluster":      {bytes.Replace(text, []byte("corp"), []byte("CORP"), 1), Malformed},
		"no gateway":      {bytes.Replace(text, []byte("gw2"), []byte("../"), 1), Malformed},
		"no address":      {bytes.Replace(text, []byte("h:1"), []byte("h"), 1), Malformed},
		"no key":          {[]byte(`{"cluster":"corp","gateway":"gw2"}`), Malformed},
		"a key of others": {otherSignature(t, text), Malformed},
		"no request":      {nil, Malformed},
	} {
		err := send(t, c, func(s *tls.ConnectionState) []byte {
			proven, err := proof(key, s, try.text)
			require.NoError(t, err)
			return append(proven, try.text...)
		})
		assert.Equal(t, try.reason, reasonOf(err), what)
	}
	assert.Equal(t, Malformed, reasonOf(send(t, c,
		func(*tls.ConnectionState) []byte { return []byte("short") })))
	assert.Len(t, c.list(t)().Gateways, 1)
}

// otherSignature returns a request with a signature that was not made by its key.
func otherSignature(t *testing.T, text []byte) []byte {
	var q request
	require.NoError(t, json.Unmarshal(text, &q))
	q.Request[len(q.Request)-1] ^= 1
	altered, err := json.Marshal(q)
	require.NoError(t, err)
	return altered
}

// send sends a message to the gateway that lets others join, and returns the refusal.
func send(t *testing.T, c *cluster, message func(*tls.ConnectionState) []byte) error {
	t.Helper()
	conn, err := tls.Dial("tcp", c.addr,
		&tls.Config{InsecureSkipVerify: true, NextProtos: []string{JoinProtocol}})
	require.NoError(t, err)
	defer conn.Close()
	state := conn.ConnectionState()
	require.NoError(t, writeMessage(conn, message(&state)))
	text, err := readMessage(conn)
	require.NoError(t, err)
	_, err = parseAnswer(text)
	return err
}

// TestAnAnswerThatIsLost: the gateway is on the list before it receives the answer. Its own key
// gets the answer again, and no other key does.
func TestAnAnswerThatIsLost(t *testing.T) {
	c := newCluster(t, "corp")
	c.serve(t)
	i, f := c.invite(t, "gw2"), folder(t)
	lost := i
	lost.Address = dropping(t, c, func(s *tls.ConnectionState, message []byte) {
		_, _, err := (&Admission{c.Register, c.secret}).answer(t.Context(), s, message)
		assert.NoError(t, err)
	})
	_, err := Join(t.Context(), lost, Member{}, f)
	require.ErrorContains(t, err, "run the same command again")
	first := c.list(t)()
	require.Len(t, first.Gateways, 2)
	c.clock.add(time.Minute)

	_, err = Join(t.Context(), i, Member{}, folder(t))
	require.Equal(t, Used, reasonOf(err))
	id, err := Join(t.Context(), i, Member{}, f)
	require.NoError(t, err)
	assert.Equal(t, "gw2", id.Gateway)
	assert.Equal(t, first, c.list(t)())
}

// dropping returns the address of a gateway that drops a connection instead of answering the
// message. It calls got with the message.
func dropping(t *testing.T, c *cluster, got func(*tls.ConnectionState, []byte)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		raw, err := listener.Accept()
		if err != nil {
			return
		}
		conn := tls.Server(raw, c.first.AllowJoins(c.first.Server(c.list(t))))
		defer raw.Close()
		message, err := readMessage(conn)
		if assert.NoError(t, err) {
			state := conn.ConnectionState()
			got(&state, message)
		}
	})
	t.Cleanup(func() { _ = listener.Close(); all.Wait() })
	return listener.Addr().String()
}

// TestInterruptedAtEachStep: a command is interrupted before each file that it writes, and run
// again until nothing is left to write.
func TestInterruptedAtEachStep(t *testing.T) {
	c := newCluster(t, "corp")
	c.serve(t)
	for what, run := range map[string]func(t *testing.T) func(Folder) (*Identity, error){
		"join": func(t *testing.T) func(Folder) (*Identity, error) {
			i := c.invite(t, "gw2")
			return func(f Folder) (*Identity, error) { return Join(t.Context(), i, Member{}, f) }
		},
		"create": func(t *testing.T) func(Folder) (*Identity, error) {
			r := NewRegister(newKeyed(t, newMemory(), newSecret()), time.Now)
			return func(f Folder) (*Identity, error) { return Create(t.Context(), r, "new", Member{Name: "gw1"}, f) }
		},
	} {
		t.Run(what, func(t *testing.T) {
			again, path := run(t), folder(t).Path
			killed := errors.New("killed")
			runs := 0
			for step := 0; ; step++ {
				left := step
				_, err := again(Folder{path, func(string) error {
					if left--; left < 0 {
						return killed
					}
					return nil
				}})
				if err == nil {
					break
				}
				require.ErrorIs(t, err, killed)
				runs++
			}
			assert.GreaterOrEqual(t, runs, 3)
			id, err := Folder{Path: path}.Identity()
			require.NoError(t, err)
			entries, err := os.ReadDir(path)
			require.NoError(t, err)
			for _, entry := range entries {
				assert.NotContains(t, entry.Name(), ".new-")
			}
			if what == "join" {
				_, ofClient, ofServer := connect(t, id.Client(c.list(t), "gw1"), c.first.Server(c.list(t)))
				require.NoError(t, errors.Join(ofClient, ofServer))
			}
		})
	}
}

// TestTwoHostsWithOneInvitation: only one of the hosts joins.
func TestTwoHostsWithOneInvitation(t *testing.T) {
	c := newCluster(t, "corp")
	c.serve(t)
	i := c.invite(t, "gw2")
	const hosts = 5
	errs := make([]error, hosts)
	var all sync.WaitGroup
	for n := range hosts {
		f := folder(t)
		all.Go(func() { _, errs[n] = Join(t.Context(), i, Member{}, f) })
	}
	all.Wait()
	joined := 0
	for _, err := range errs {
		if err == nil {
			joined++
			continue
		}
		assert.Equal(t, Used, reasonOf(err))
	}
	assert.Equal(t, 1, joined)
}

// TestTheStoreFails: a gateway whose entry was not stored has not joined, and the command works once the
// store does.
func TestTheStoreFails(t *testing.T) {
	for what, fail := range map[string]func(*faulty){
		"before": func(f *faulty) { f.before = 1 },
		"after":  func(f *faulty) { f.after = 1 },
	} {
		t.Run(what, func(t *testing.T) {
			c := newCluster(t, "corp")
			c.serve(t)
			i, f := c.invite(t, "gw2"), folder(t)
			fail(c.store)
			_, err := Join(t.Context(), i, Member{}, f)
			require.Equal(t, Unavailable, reasonOf(err))
			assert.NotContains(t, err.Error(), errFault.Error(), "strangers hear nothing of the inside")
			require.ErrorIs(t, <-c.served, errFault)
			_, err = Join(t.Context(), i, Member{}, f)
			require.NoError(t, err)
			assert.Len(t, c.list(t)().Gateways, 2)
		})
	}
}

// TestJoinsBesideOtherRequests: without a certificate, an HTTP server passes on joins and nothing else.
func TestJoinsBesideOtherRequests(t *testing.T) {
	c := newCluster(t, "corp")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.addr = listener.Addr().String()
	admission := &Admission{c.Register, c.secret}
	server := &http.Server{
		TLSConfig: c.first.AllowJoins(c.first.Server(c.list(t))), ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			gateway, err := Listed(*r.TLS, c.list(t)())
			assert.NoError(t, err)
			_, _ = io.WriteString(w, gateway)
		}),
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){
			JoinProtocol: func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
				_, err := admission.Serve(t.Context(), conn)
				assert.NoError(t, err)
			},
		},
	}
	var all sync.WaitGroup
	all.Go(func() { _ = server.ServeTLS(listener, "", "") })
	t.Cleanup(func() { _ = server.Close(); all.Wait() })
	second, _ := c.join(t, "gw2")
	transport := &http.Transport{TLSClientConfig: second.Client(c.list(t), "gw1")}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get("https://" + c.addr)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, "gw2", string(text))
}

func TestSilentPeersAreLeft(t *testing.T) {
	c := newCluster(t, "corp")
	left, right := net.Pipe()
	defer left.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := (&Admission{c.Register, nil}).Serve(ctx,
			tls.Server(right, c.first.AllowJoins(c.first.Server(c.list(t)))))
		done <- err
	}()
	cancel()
	require.Error(t, <-done)
}

func TestRegister(t *testing.T) {
	ctx := t.Context()
	empty := NewRegister(newKeyed(t, newMemory(), newSecret()), time.Now)
	_, err := empty.Members(ctx)
	require.ErrorIs(t, err, ErrNone)
	_, err = empty.Invite(ctx, "gw2")
	require.ErrorIs(t, err, ErrNone)

	c := newCluster(t, "corp")
	_, err = Create(ctx, c.Register, "corp", Member{Name: "gw1"}, c.folder)
	require.NoError(t, err, "the same host again")
	_, err = Create(ctx, c.Register, "corp", Member{Name: "gw1"}, folder(t))
	require.ErrorContains(t, err, "the store has the cluster corp already")
	_, err = Create(ctx, c.Register, "corp", Member{Name: "GW1"}, folder(t))
	require.ErrorContains(t, err, "not the name of a gateway")
	_, err = c.Invite(ctx, "gw1")
	require.ErrorContains(t, err, "cluster leave --gateway gw1")
	_, err = c.Invite(ctx, "gw_2")
	require.ErrorContains(t, err, "not the name of a gateway")
	require.ErrorContains(t, c.Remove(ctx, "gw1"), "is the last")
	require.NoError(t, c.Remove(ctx, "gw9"))

	c.serve(t)
	for _, name := range []string{"gw10", "gw2", "gw3", "gw4", "gw5", "gw6", "gw7", "gw8", "gw9"} {
		c.join(t, name)
	}
	assert.Equal(t, "gw10", c.list(t)().Gateways[1].Name)
	_, err = c.Invite(ctx, "gw11")
	require.ErrorContains(t, err, "cannot have more")
}

// TestTheKeyOfTheAuthorityIsSealed: without the cluster's key the store reveals nothing.
func TestTheKeyOfTheAuthorityIsSealed(t *testing.T) {
	c := newCluster(t, "corp")
	entry, err := c.store.Get(t.Context(), kind, authorityKey)
	require.NoError(t, err)
	assert.NotContains(t, string(entry.Value), "corp")
	_, err = NewRegister(newKeyed(t, c.store, newSecret()), time.Now).authority(t.Context())
	require.ErrorIs(t, err, store.ErrUnreadable)
	later, _, err := c.members(t.Context())
	require.NoError(t, err)
	c.Register.store.SetNewest(store.Newest + 1)
	c.Register.store.SetFormat(store.Newest + 1)
	change, err := set(c.Register, membersKey, mustRevision(t, c), later)
	require.NoError(t, err)
	_, err = c.Register.store.Apply(t.Context(), change)
	require.NoError(t, err)
	c.Register.store.SetNewest(store.Newest)
	_, err = c.Members(t.Context())
	require.ErrorIs(t, err, store.ErrNewer)
}

func mustRevision(t *testing.T, c *cluster) store.Revision {
	_, revision, err := c.members(t.Context())
	require.NoError(t, err)
	return revision
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	c := newCluster(t, "corp")
	path := c.folder.MembersFile()
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for what, text := range map[string]string{
		"empty": "", "cut off": string(good[:len(good)/2]), "no cluster": `{"v":1,"gateways":[{"name":"gw1"}]}`, "nobody": `{"v":1,"cluster":"corp"}`,
		"later format": `{"v":99,"cluster":"corp"}`, "order": `{"v":1,"cluster":"corp","gateways":[{"name":"gw2"},{"name":"gw1"}]}`,
		"name": `{"v":1,"cluster":"corp","gateways":[{"name":"../gw1"}]}`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := LoadMembers(path)
		require.ErrorContains(t, err, "copy the file from another gateway", what)
	}
	_, err = LoadMembers(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "copy the file from another gateway")

	for _, name := range []string{keyFile, certificateFile, authorityFile} {
		file := filepath.Join(c.folder.Path, name)
		before, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte("damaged"), 0o600))
		_, err = c.folder.Identity()
		require.ErrorContains(t, err, "restore the folder from a backup", name)
		require.NoError(t, os.WriteFile(file, before, 0o600))
	}
	_, err = c.folder.Identity()
	require.NoError(t, err)

	c.serve(t)
	f := folder(t)
	require.NoError(t, os.Mkdir(f.Path, 0o700))
	require.NoError(t, os.WriteFile(f.SecretFile(), []byte("AAAA\n"), 0o600))
	_, err = Join(t.Context(), c.invite(t, "gw2"), Member{}, f)
	require.ErrorContains(t, err, "is the key file of another cluster")
}
