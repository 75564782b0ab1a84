package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adgateway/ps/sandbox"
	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
	"adgateway/test/freeport"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	testTicket = "the ticket of the gateways"
	testOrders = "the ticket of the tests"
)

// openDomain returns a domain that listens on an address, and its world.
func openDomain(t testing.TB, listen string) (*Domain, *sandbox.World) {
	t.Helper()
	writes := &sandbox.WriteLog{}
	world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1, Replicas: true, Writes: writes})
	require.NoError(t, err)
	d, err := NewDomain(DomainOptions{World: world, Listen: listen, Ticket: testTicket, Orders: testOrders,
		Writes: writes, Version: "v1"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, world
}

// notes are the log messages of a link.
type notes struct {
	mu   sync.Mutex
	text []string
}

func (n *notes) add(_ bool, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.text = append(n.text, text)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.text, "\n")
}

func secretOf(text string) func() (string, error) { return func() (string, error) { return text, nil } }

// openLink returns a gateway's link that runs until the test ends.
func openLink(t testing.TB, address, gateway, account string, clock time.Duration) (*Link, *notes) {
	t.Helper()
	n := &notes{}
	l, err := Connect(t.Context(),
		LinkOptions{Address: address, Secret: secretOf(testTicket), Gateway: gateway, Account: account,
			Clock: clock, Version: "v1", Log: n.add})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		require.NoError(t, l.Close())
	})
	return l, n
}

// say runs lines in a session of a gateway and returns their output.
func say(t testing.TB, l *Link, input string) (stdout, stderr string) {
	t.Helper()
	waiter, stdin, out, errs, err := l.Starter().StartProcess("", sessionArgs...)
	require.NoError(t, err)
	_, err = io.WriteString(stdin, input+"\n")
	require.NoError(t, err)
	require.NoError(t, stdin.(io.Closer).Close())
	text, err := io.ReadAll(out)
	require.NoError(t, err)
	problems, err := io.ReadAll(errs)
	require.NoError(t, err)
	_ = waiter.Wait() // the last line of the output contains the code
	return strings.TrimSpace(string(text)), string(problems)
}

// giver gives orders to a domain.
type giver struct {
	t testing.TB
	d *Domain
}

func (g giver) give(words ...string) {
	g.t.Helper()
	_, err := Give(g.t.Context(), g.d.Address(), testOrders, words...)
	require.NoError(g.t, err)
}

// found gives an order and returns its result.
func found[T any](g giver, words ...string) (result T) {
	g.t.Helper()
	text, err := Give(g.t.Context(), g.d.Address(), testOrders, words...)
	require.NoError(g.t, err)
	require.NoError(g.t, json.Unmarshal(text, &result))
	return result
}

func TestGatewaysOfSeveralProcessesHaveOneDomain(t *testing.T) {
	d, world := openDomain(t, "127.0.0.1:0")
	a, _ := openLink(t, d.Address(), "gw1", "gmsa-1$", 0)
	b, _ := openLink(t, d.Address(), "gw2", "gmsa-2$", time.Hour)
	_, problems := say(t, a, "Set-ADUser aschmidt -Description 'by one'")
	require.Empty(t, problems)
	_, problems = say(t, a, "Add-DnsServerResourceRecordCName -ZoneName corp.example -Name many "+
		"-HostNameAlias dc1.corp.example.")
	require.Empty(t, problems)
	out, _ := say(t, b, "(Get-ADUser aschmidt -Properties description).description; "+
		"(Get-DnsServerResourceRecord -ZoneName corp.example -Name many -RRType CName).HostName")
	assert.Equal(t, "by one\nmany", out)
	out, _ = say(t, b, "$now = ([datetime](Get-ADRootDSE).currentTime).ToUniversalTime(); $now.Ticks")
	ticks, err := strconv.ParseInt(out, 10, 64)
	require.NoError(t, err)
	ahead := time.Duration(ticks-dotnet.DateTimeOf(world.Directory.Now(), dotnet.UTC).Ticks) * 100
	assert.InDelta(t, time.Hour, ahead, float64(time.Minute), "by its own clock the domain is an hour ahead")

	assert.Equal(t, world.Example(t.Context()), a.Example(t.Context()))
	conn, err := a.Dial(t.Context(), "tcp", "dc1.corp.example:9389")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	_, err = a.Dial(t.Context(), "tcp", "nowhere.corp.example:9389")
	require.Error(t, err)
	require.Eventually(t, func() bool { return d.Connections() == 0 }, patience, time.Millisecond,
		"sessions that ended leave no connection")
}

func TestPeopleSignInOverALink(t *testing.T) {
	d, world := openDomain(t, "127.0.0.1:0")
	_, err := world.AddPeople(t.Context())
	require.NoError(t, err)
	l, _ := openLink(t, d.Address(), "gw1", "", 0)
	account, err := l.LogOn(t.Context(), sandbox.OperatorPerson, sandbox.PersonsPassword+sandbox.OperatorPerson)
	require.NoError(t, err)
	assert.Equal(t, sandbox.OperatorPerson, account.Name)
	assert.NotEmpty(t, account.Groups)
	again, err := l.Account(t.Context(), account.SID)
	require.NoError(t, err)
	assert.Equal(t, account, again)
	again, err = l.Lookup(t.Context(), sandbox.OperatorPerson)
	require.NoError(t, err)
	assert.Equal(t, account, again)
	_, err = l.LogOn(t.Context(), sandbox.OperatorPerson, "wrong")
	require.ErrorIs(t, err, sandbox.ErrLogon)
}

// ADWS counts the connections of an account (facts D19). Two gateways share the limit if
// they use the same account, but not if each has its own.
func TestConnectionsAreCountedPerAccount(t *testing.T) {
	d, world := openDomain(t, "127.0.0.1:0")
	dc := world.Directory.DCs()[0]
	for range 5 {
		release, err := dc.Connect("gmsa-1$")
		require.NoError(t, err)
		defer release()
	}
	shared, _ := openLink(t, d.Address(), "gw1", "GMSA-1$", 0)
	own, _ := openLink(t, d.Address(), "gw2", "gmsa-2$", 0)
	_, problems := say(t, shared, "Get-ADUser aschmidt -Server dc1")
	assert.Contains(t, problems, "A connection to the directory on which to process the request was unavailable")
	out, problems := say(t, own, "(Get-ADUser aschmidt -Server dc1).SamAccountName")
	assert.Empty(t, problems)
	assert.Equal(t, "aschmidt", out)
}

func TestTicketsThatAreRefused(t *testing.T) {
	d, _ := openDomain(t, "127.0.0.1:0")
	connect := func(change func(*LinkOptions)) error {
		o := LinkOptions{Address: d.Address(), Secret: secretOf(testTicket), Gateway: "gw1", Version: "v2"}
		change(&o)
		_, err := Connect(t.Context(), o)
		return err
	}
	require.ErrorIs(t, connect(func(o *LinkOptions) { o.Secret = secretOf("guessed") }), ErrTicket)
	require.ErrorIs(t, connect(func(o *LinkOptions) { o.Secret = secretOf(testOrders) }), ErrTicket,
		"orders are another ticket")
	require.ErrorIs(t, connect(func(o *LinkOptions) { o.Secret = secretOf("") }), ErrTicket)
	require.ErrorContains(t, connect(func(o *LinkOptions) { o.Gateway = "a b" }),
		"cannot be the name of a gateway")
	require.ErrorContains(t, connect(func(o *LinkOptions) { o.Account = strings.Repeat("x", 300) }), "256 bytes")
	require.ErrorIs(t, connect(func(
		o *LinkOptions) {
		o.Secret = func() (string, error) { return "", io.ErrUnexpectedEOF }
	}),
		io.ErrUnexpectedEOF)

	_, err := Give(t.Context(), d.Address(), testTicket, "digest")
	require.ErrorIs(t, err, ErrTicket)

	conn, err := net.Dial("tcp", d.Address())
	require.NoError(t, err)
	defer conn.Close()
	answer, err := newWire(conn).first(conn, &frame{F: "question", Question: &question{Op: "join",
		ticket: ticket{Secret: testTicket, Protocol: protocol + 1, Version: "v9", Gateway: "gw1", Account: "a"}}})
	require.NoError(t, err)
	assert.Equal(t, refusedProtocol, answer.Reply.Refused)
	assert.Contains(t, answer.Reply.Text, "version v1, speaks protocol")

	address := freeport.Addresses(t, 1)[0]
	require.ErrorIs(t, connect(func(o *LinkOptions) { o.Address = address }), ErrNoDomain)

	plain, _ := newServer(t) // a server without tickets
	require.ErrorIs(t, connect(func(o *LinkOptions) { o.Address = plain.listener.Addr().String() }), ErrNoDomain)
}

func TestADomainListensOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "localhost:0", "[::]:0", "10.0.0.1:0"} {
		_, err := NewDomain(DomainOptions{Listen: address, Ticket: "x"})
		require.ErrorIs(t, err, errNotLoopback, address)
	}
	_, err := NewDomain(DomainOptions{Listen: "127.0.0.1", Ticket: "x"})
	require.Error(t, err)
	_, err = NewDomain(DomainOptions{Listen: "127.0.0.1:0"})
	require.Error(t, err)
}

// A key is valid only while its gateway is connected.
func TestKeysEndWithTheirGateway(t *testing.T) {
	d, _ := openDomain(t, "127.0.0.1:0")
	l, err := Connect(t.Context(),
		LinkOptions{Address: d.Address(), Secret: secretOf(testTicket), Gateway: "gw1"})
	require.NoError(t, err)
	key, err := l.key()
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.Eventually(t, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.guests) == 0 && len(d.keys) == 0
	}, patience, time.Millisecond)
	code, err := relay(t.Context(), d.Address(), &frame{F: "session", Key: key}, engine.Console{})
	require.ErrorIs(t, err, errRefused)
	assert.Equal(t, exitLost, code)
	_, err = l.key()
	require.ErrorIs(t, err, ErrNoDomain)
}

// When the domain ends, its sessions end. The link reports that it has no domain until there is one again.
func TestALinkComesBack(t *testing.T) {
	d, _ := openDomain(t, "127.0.0.1:0")
	address := d.Address()
	l, log := openLink(t, address, "gw1", "", 0)
	waiter, _, out, _, err := l.Starter().StartProcess("", sessionArgs...)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	_, err = io.ReadAll(out)
	require.NoError(t, err)
	require.Error(t, waiter.Wait(), "the session has ended with the domain")
	require.Eventually(t, func() bool { return l.Fault() != nil }, patience, time.Millisecond)
	_, _, _, _, err = l.Starter().StartProcess("", sessionArgs...)
	require.ErrorIs(t, err, ErrNoDomain)
	_, err = l.Dial(t.Context(), "tcp", "dc1.corp.example:9389")
	require.ErrorIs(t, err, ErrNoDomain)
	assert.Empty(t, l.Example(t.Context()).User)

	openDomain(t, address)
	require.Eventually(t, func() bool { return l.Fault() == nil && strings.Contains(log.String(), "back") },
		patience, time.Millisecond)
	assert.Contains(t, log.String(), "was lost")
	assert.Contains(t, log.String(), "started again")
	name, _ := say(t, l, "(Get-ADUser aschmidt).SamAccountName")
	assert.Equal(t, "aschmidt", name)
}

func TestOrders(t *testing.T) {
	d, _ := openDomain(t, "127.0.0.1:0")
	o := giver{t, d}
	l, log := openLink(t, d.Address(), "gw1", "", 0)
	reached := func(host string) bool {
		conn, err := l.Dial(t.Context(), "tcp", host+".corp.example:9389")
		return err == nil && conn.Close() == nil
	}
	description := func(controller string) any {
		objects := found[[]Found](o, "find", controller, "(sAMAccountName=aschmidt)", "description")
		require.Len(t, objects, 1)
		return objects[0].Attributes["description"]
	}
	first := found[sandbox.Digest](o, "digest")
	assert.Equal(t, first.Controllers["dc1.corp.example"], first.Controllers["dc2.corp.example"])

	o.give("stop", "dc1")
	assert.False(t, reached("dc1"))
	o.give("start", "DC1.corp.example")
	assert.True(t, reached("dc1"))

	o.give("separate", "gw1", "dc1")
	assert.False(t, reached("dc1"))
	_, problems := say(t, l, "Get-ADUser aschmidt -Server dc1; Get-DnsServerZone -ComputerName dc1")
	assert.Contains(t, problems, "Unable to contact the server")
	assert.Contains(t, problems, "The RPC server is unavailable")
	assert.True(t, reached("dc2"))
	o.give("join", "gw1", "dc1")
	assert.True(t, reached("dc1"))

	o.give("cut", "dc1", "dc2")
	_, problems = say(t, l, "Set-ADUser aschmidt -Description 'first' -Server dc1")
	require.Empty(t, problems)
	assert.Equal(t, []string{"first"}, description("dc1"))
	assert.NotEqual(t, []string{"first"}, description("dc2"))
	apart := found[sandbox.Digest](o, "digest")
	assert.NotEqual(t, apart.Controllers["dc1.corp.example"], apart.Controllers["dc2.corp.example"])
	o.give("heal", "dc2", "dc1")
	assert.Equal(t, []string{"first"}, description("dc2"))

	o.give("lag", "1h")
	_, problems = say(t, l, "Set-ADUser aschmidt -Description 'second' -Server dc1")
	require.Empty(t, problems)
	assert.Equal(t, []string{"first"}, description("dc2"))
	o.give("slow", "dc1", "1ms")
	name, _ := say(t, l, "(Get-ADUser aschmidt -Server dc1).SamAccountName")
	assert.Equal(t, "aschmidt", name)

	require.Eventually(t, func() bool { return d.Connections() == 0 }, patience, time.Millisecond)
	assert.Equal(t, map[string]int{"dropped": 1}, found[map[string]int](o, "drop", "gw1"))
	require.Eventually(t, func() bool {
		return strings.Contains(log.String(),
			"with all that was written to it")
	}, patience, time.Millisecond)
	require.EventuallyWithT(t, func(c *assert.CollectT) { // the domain notices when it serves the new connection
		assert.Equal(c, []Guest{{Gateway: "gw1", Account: sandbox.ServiceAccount}}, found[[]Guest](o, "gateways"))
	}, patience, time.Millisecond)
}

func TestTheWriteLogSaysWhoWroteWhat(t *testing.T) {
	d, _ := openDomain(t, "127.0.0.1:0")
	o := giver{t, d}
	a, _ := openLink(t, d.Address(), "gw1", "", 0)
	b, _ := openLink(t, d.Address(), "gw2", "", 0)
	require.Empty(t, found[[]sandbox.Write](o, "writes"))
	say(t, a, "Set-ADUser aschmidt -City Rome")
	say(t, b, "Set-ADUser aschmidt -City Oslo; Rename-ADObject (Get-ADUser aschmidt) -NewName 'Anna New'")
	say(t, b, "Add-DnsServerResourceRecordCName -ZoneName corp.example -Name many -HostNameAlias "+
		"dc1.corp.example.")
	writes := found[[]sandbox.Write](o, "writes", "0")
	require.Len(t, writes, 4)
	for i, w := range writes {
		assert.Equal(t, int64(i+1), w.Position)
		assert.False(t, w.Time.IsZero())
		assert.NotEmpty(t, w.Server)
	}
	assert.Equal(t, []string{"Rome"}, writes[0].After)
	assert.Equal(t, "l", writes[0].Attribute)
	assert.Regexp(t, `^gw1#\d+$`, writes[0].Writer)
	assert.Equal(t, []string{"Oslo"}, writes[1].After)
	assert.Regexp(t, `^gw2#\d+$`, writes[1].Writer)
	assert.Equal(t, writes[0].GUID, writes[2].GUID)
	assert.Contains(t, writes[2].After[0], "CN=Anna New,")
	assert.Equal(t, "add record", writes[3].Op)
	assert.Regexp(t, `^gw2#\d+$`, writes[3].Writer)
	assert.Contains(t, writes[3].After[0], "many")
	assert.Equal(t, writes[3:], found[[]sandbox.Write](o, "writes", "3"))
}

func TestOrdersThatAreWrong(t *testing.T) {
	d, _ := openDomain(t, "127.0.0.1:0")
	for words, says := range map[string]string{
		"explode":          `"explode" is no order with all that it needs`,
		"":                 `is no order with all that it needs`,
		"slow dc1":         `"slow dc1" is no order with all that it needs`,
		"stop dc9":         `there is no controller "dc9"; there are dc1, dc2`,
		"cut dc1 dc9":      `there is no controller "dc9"; there are dc1, dc2`,
		"separate gw1 dc9": `there is no controller "dc9"; there are dc1, dc2`,
		"lag -1s":          `"-1s" is no time such as 500ms or 30s`,
		"slow dc1 soon":    `"soon" is no time such as 500ms or 30s`,
		"writes -1":        `"-1" is no position`,
		"find dc1 ((":      ``,
	} {
		_, err := Give(t.Context(), d.Address(), testOrders, strings.Fields(words)...)
		require.ErrorContains(t, err, says, words)
	}
}

// The digest depends neither on the time nor on the GUIDs.
func TestDigest(t *testing.T) {
	make := func(seed int64, city string) sandbox.Digest {
		world, err := sandbox.NewWorld(t.Context(), sandbox.Options{Seed: 1})
		require.NoError(t, err)
		dc := world.Directory.DCs()[0]
		for i := range seed { // uses up GUIDs
			dn := fmt.Sprintf("CN=spent%d,%s", i, world.Directory.UsersContainer())
			_, err := dc.Add(t.Context(), dn, directory.Attr("objectClass", "user"))
			require.NoError(t, err)
			require.NoError(t, dc.Delete(t.Context(), dn))
		}
		_, err = dc.Add(t.Context(), "CN=one,"+world.Directory.UsersContainer(),
			directory.Attr("objectClass", "user"),
			directory.Attr("sAMAccountName", "one"), directory.Attr("l", city))
		require.NoError(t, err)
		d, err := world.Digest()
		require.NoError(t, err)
		return d
	}
	assert.Equal(t, make(0, "Rome"), make(3, "Rome"))
	assert.NotEqual(t, make(0, "Rome").Controllers, make(0, "Oslo").Controllers)
}

// fuzzed sends the first frame of a connection and returns the answer, or nil if there is none.
func fuzzed(conn net.Conn, text string) *frame {
	f := &frame{}
	if json.Unmarshal([]byte(text), f) != nil {
		return nil
	}
	w := newWire(conn)
	if w.send(f) != nil {
		return nil
	}
	answer, err := w.read(MaxFrame)
	if err != nil {
		return nil
	}
	return answer
}

// FuzzTicket presents any text as the first frame. Without the secret, the domain does not accept it.
func FuzzTicket(f *testing.F) {
	for _, text := range []string{
		`{"f":"question"}`, `{"f":"question","question":{"op":"join","secret":"x"}}`, `{"f":"question","question":{"op":"order","secret":"","protocol":2}}`,
		`{"f":"question","question":{"op":"join","secret":"` + testTicket + `","protocol":1,"gateway":"g","account":"a"}}`,
		`{"f":"question","question":{"op":"key","secret":"` + testTicket + `","protocol":2,"gateway":"g","account":"a","clock":-5,"guest":"x"}}`,
		`{"f":"question","question":{"op":"order","secret":"` + testOrders + `","protocol":2,"words":["digest"]}}`, `{"f":"hello","key":""}`, `{}`,
	} {
		f.Add(text)
	}
	d, _ := openDomain(f, "127.0.0.1:0")
	f.Fuzz(func(t *testing.T, text string) {
		conn, server := net.Pipe()
		ctx, end := context.WithCancel(t.Context())
		context.AfterFunc(ctx, func() { _ = server.Close() })
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer end()
			w := newWire(server)
			if first, err := w.read(MaxFrame); err == nil {
				d.enter(ctx, end, w, first)
			}
		}()
		answer := fuzzed(conn, text)
		_ = conn.Close()
		<-done
		known := strings.Contains(text, testTicket) || strings.Contains(text, testOrders)
		if answer != nil && answer.Reply.Refused == "" && !known {
			var given frame
			if err := json.Unmarshal([]byte(text), &given); err != nil || given.Question == nil ||
				given.Question.Secret != testTicket && given.Question.Secret != testOrders {
				t.Errorf("%s: let in without the secret", text)
			}
		}
	})
}

// FuzzOrder sends any order. The domain answers and still works afterwards.
func FuzzOrder(f *testing.F) {
	for _, text := range []string{
		"stop dc2", "start dc2", "cut dc1 dc2", "join g dc2", "lag -1s", "lag 9223372036854775807ns", "slow dc2 1ns",
		"writes -9", "find dc1 (&(a=b) x *", "digest", "drop g", "gateways", "",
	} {
		f.Add(text)
	}
	d, world := openDomain(f, "127.0.0.1:0")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := d.obey(t.Context(), strings.Split(text, " "))
		if err == nil && r == nil {
			t.Errorf("%s: neither a reply nor an error", text)
		}
		if err == nil {
			if _, err := json.Marshal(frame{F: "reply", Reply: r}); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, dc := range world.Directory.DCs() {
			dc.SetAlive(true)
		}
		if _, err := world.Directory.DCs()[0].Get(t.Context(), world.Directory.RootDN(), "name"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}
