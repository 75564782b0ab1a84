package commands

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"adgateway/gateway/engine"
	"adgateway/gateway/engine/enginetest"
	"adgateway/gateway/keep"
	"adgateway/gateway/keep/natsstore"
	"adgateway/test/canary"
	"adgateway/test/freeport"
	"adgateway/test/systemtest"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// named begins every name of an object, a person or a key that the gateways are told here.
const named = "zq7canary"

const tokenName = named + "-token"

// unsealed is what the test itself writes without a seal, to show that it would be found.
const unsealed = "zq7control"

// overheard is a cluster of three gateways and three nodes without TLS. Everything is kept
// that who holds a node, a host or the network between them can read.
type overheard struct {
	t        *testing.T
	engine   *enginetest.Cluster
	folder   string   // of the gateways' files, each in a folder of its own name
	files    []string // their settings
	gateways []*runningSandbox
	wires    []*enginetest.Wire // of all gateways to all nodes
	monitors []string           // addresses of the nodes' monitoring pages

	between  systemtest.LogBuffer // what the nodes sent each other
	joined   systemtest.LogBuffer // what gateways and nodes sent each other
	messages systemtest.LogBuffer // what a client of the nodes can subscribe to, advisories included
	nodeLog  systemtest.LogBuffer
	pages    systemtest.LogBuffer // of the nodes
	status   systemtest.LogBuffer // of the cluster, as the command shows it
}

// overhear starts the cluster over one domain, with settings for all gateways.
func overhear(t *testing.T, settings ...string) *overheard {
	o := &overheard{t: t, monitors: freeport.Addresses(t, 3)}
	log := logrus.New()
	log.SetOutput(&o.nodeLog)
	log.SetLevel(logrus.TraceLevel)
	o.engine = enginetest.StartWith(t, 3, func(options *engine.Options) {
		options.Log = log.WithField("node", options.Node)
		for i := range 3 {
			if options.Node == enginetest.Name(i) {
				options.Monitor = o.monitors[i]
			}
		}
	})
	o.engine.Tap(func(b []byte) { _, _ = o.between.Write(b) })
	names := []string{"gw1", "gw2", "gw3"}
	o.folder, o.files = clusterSettings(t, o.engine, names...)
	command(t, "cluster", "init", "--replicas=3", "--config="+o.files[0])

	listener := o.engine.Connect()
	_, err := listener.Subscribe(">", func(m *nats.Msg) { fmt.Fprintf(&o.messages, "%s %s %v\n%s\n", m.Subject, m.Reply, m.Header, m.Data) })
	require.NoError(t, err)
	require.NoError(t, listener.Flush())

	ticket := filepath.Join(t.TempDir(), "ticket")
	domain, _ := startProcess(t, "the domain corp.example listens on ", "sandbox", "domain", "--listen", "127.0.0.1:0", "--ticket-file", ticket, "--log-level", "error")
	for i, name := range names {
		args := []string{"--config=" + o.files[i], "--domain", domain, "--ticket-file", ticket, "--gateway-name", name, "--log-level", "debug", "--set", "cluster.servers=[" + strings.Join(o.ways(), ", ") + "]"}
		for _, setting := range settings {
			args = append(args, "--set", setting)
		}
		o.gateways = append(o.gateways, startSandbox(t, args...))
	}
	return o
}

// ways returns the URLs of the nodes for one more client, by wires that are recorded.
func (o *overheard) ways() (urls []string) {
	for _, node := range o.engine.URLs() {
		wire, err := enginetest.NewWire(strings.TrimPrefix(node, "nats://"))
		require.NoError(o.t, err)
		o.t.Cleanup(wire.Close)
		wire.Tap(func(b []byte) { _, _ = o.joined.Write(b) })
		o.wires = append(o.wires, wire)
		urls = append(urls, "nats://"+wire.Address())
	}
	return urls
}

// readPages keeps what the nodes show to who monitors them.
func (o *overheard) readPages() {
	o.t.Helper()
	for _, node := range o.monitors {
		for _, page := range []string{
			"varz", "connz?subs=detail&auth=1&state=all", "routez?subs=detail", "subsz?subs=1&limit=10000", "jsz?accounts=1&streams=1&consumers=1&config=1&raft=1",
			"accountz?acc=ADGW", "accstatz?unused=1", "healthz", "raftz", "leafz", "gatewayz",
		} {
			status, text, err := send(o.t.Context(), http.MethodGet, "http://"+node+"/"+page, nil, "")
			require.NoError(o.t, err)
			require.Equal(o.t, http.StatusOK, status, page)
			fmt.Fprintln(&o.pages, page, text)
		}
	}
	fmt.Fprintln(&o.status, command(o.t, "cluster", "status", "--config="+o.files[0]))
}

// call sends a call with a token to a gateway until it succeeds, as what another one did a
// moment ago may not be known there yet, and returns the answer.
func (o *overheard) call(gateway int, token, method, path, body string, more ...string) string {
	o.t.Helper()
	header := http.Header{"Auth-Token": {"Bearer " + token}, "Content-Type": {"application/json"}}
	for i := 0; i < len(more); i += 2 {
		header.Set(more[i], more[i+1])
	}
	text := ""
	require.EventuallyWithT(o.t, func(c *assert.CollectT) {
		ctx, cancel := context.WithTimeout(o.t.Context(), patience)
		defer cancel()
		status, answer, err := send(ctx, method, o.gateways[gateway].url+path, header, body)
		require.NoError(c, err)
		require.Less(c, status, 300, "%s %s: %s", method, path, answer)
		text = answer
	}, patience, 20*time.Millisecond)
	return text
}

// signIn signs a person in at one gateway, makes a change by way of all of them, signs out,
// and returns the cookie that the session had.
func (o *overheard) signIn(name, password string) string {
	t := o.t
	t.Helper()
	one, two, three := o.gateways[0], o.gateways[1], o.gateways[2]
	b := newBrowser(t)
	_, page := b.open(three, "/ui/signin")
	status, _ := b.send(one, "/ui/signin", page, url.Values{"username": {name}, "password": {password}})
	require.Equal(t, http.StatusSeeOther, status)
	cookie := b.jar.Cookies(nil)[0]
	for _, g := range o.gateways {
		status, page = b.open(g, "/ui/people?q=norights")
		require.Equal(t, http.StatusOK, status, page)
	}
	person := regexp.MustCompile(`/ui/people/[0-9a-f-]{36}`).FindString(page)
	require.NotEmpty(t, person, page)
	_, page = b.open(one, person)
	status, preview := b.send(two, person+"/disable", page, nil)
	require.Equal(t, http.StatusOK, status, preview)
	status, done := b.send(three, "/ui/confirm", preview, nil)
	require.Equal(t, http.StatusSeeOther, status, done)
	status, again := b.send(one, "/ui/confirm", preview, nil)
	require.Equal(t, http.StatusSeeOther, status, "another press shows what the first did")
	assert.Equal(t, done, again)
	status, page = b.open(two, done)
	require.Equal(t, http.StatusOK, status, page)
	assert.Regexp(t, `<h1>Disable the account of [^<]+: done</h1>`, page)

	status, _ = b.send(three, "/ui/signout", page, nil)
	require.Equal(t, http.StatusSeeOther, status)
	for _, g := range o.gateways {
		require.Eventually(t, func() bool {
			status, _, err := send(t.Context(), http.MethodGet, g.url+"/ui/people", http.Header{"Cookie": {cookie.Name + "=" + cookie.Value}}, "")
			return err == nil && status == http.StatusUnauthorized
		}, patience, 10*time.Millisecond, "a session that was signed out at another gateway")
	}
	return cookie.Value
}

// places are where a client of the nodes, or who holds one, could read.
func (o *overheard) places() map[string]string {
	all := map[string]string{
		"between nodes": o.between.String(), "between gateways and nodes": o.joined.String(), "messages and advisories": o.messages.String(),
		"log of the nodes": o.nodeLog.String(), "monitoring pages": o.pages.String(),
	}
	for i := range o.monitors {
		store := o.engine.Options(i).Store
		for path, text := range filesOf(o.t, store) {
			all[filepath.Join("store of "+enginetest.Name(i), path)] = text
		}
	}
	return all
}

// filesOf returns the texts of all files in a folder, by their paths in it. Files may come and
// go meanwhile.
func filesOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return ignoringGone(err)
		}
		text, err := os.ReadFile(path)
		texts[strings.TrimPrefix(path, folder)] = string(text)
		return ignoringGone(err)
	}))
	return texts
}

func ignoringGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// TestWhatIsSharedIsSealed has three gateways do everything that takes or makes a secret,
// and looks for secrets and names in all that leaves them: on the disks and in the logs of
// the nodes, on the network, in messages, advisories and monitoring pages. Secrets are in
// no file or log of a gateway either; names are in its audit log.
func TestWhatIsSharedIsSealed(t *testing.T) {
	secretFile := filepath.Join(t.TempDir(), "hook.secret")
	hookKey := canary.Mark + "-the-key-of-a-webhook-" + canary.Mark
	hookSecret := "whsec_" + base64.StdEncoding.EncodeToString([]byte(hookKey))
	require.NoError(t, os.WriteFile(secretFile, []byte(hookSecret), 0o600))
	received := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.Header.Get("webhook-signature") }))
	t.Cleanup(receiver.Close)
	o := overhear(t, fmt.Sprintf("events.webhooks=[{name: hook, url: '%s/', secretFile: '%s'}]", receiver.URL, secretFile))

	token := command(t, "token", "create", tokenName, "--config="+o.files[0], "--scope", "*")
	made := []string{token, strings.TrimSpace(readText(t, filepath.Join(o.folder, "cluster.key")))}
	for _, g := range o.gateways {
		require.Eventually(t, func() bool {
			status, _ := g.get("/api/ADUser/Administrator/Details", "Bearer "+token)
			return status == http.StatusOK
		}, patience, 10*time.Millisecond)
	}

	const called, listed = named + "-called", named + "-listed"
	body := fmt.Sprintf(`{"OUPath":%q,"Password":%q,"FirstName":%q}`, jobOU, canary.Secret("created"), named+"-first")
	for gateway := range 2 { // the second one repeats what the first one answered
		o.call(gateway, token, http.MethodPost, "/api/ADUser/"+called, body, "Idempotency-Key", named+"-key-created")
	}
	reset := "/api/ADUser/" + called + "/ResetPassword"
	o.call(1, token, http.MethodPut, reset, fmt.Sprintf(`{"newPassword":%q}`, canary.Secret("reset")), "Idempotency-Key", named+"-key-reset")
	made = append(made, generatedPassword(t, o.call(2, token, http.MethodPut, reset, "", "Idempotency-Key", named+"-key-generated")))
	var planned struct{ Plan struct{ ID string } }
	update := "/api/ADUser/" + called
	require.NoError(t, json.Unmarshal([]byte(o.call(0, token, http.MethodPut, update+"?DryRun=true", fmt.Sprintf(`{"City":%q}`, named+"-city"))), &planned))
	o.call(1, token, http.MethodPut, update+"?PlanId="+planned.Plan.ID, fmt.Sprintf(`{"City":%q}`, named+"-city"))

	callSandbox(t, o.gateways[2], token)
	people := list(t, named+".csv", fmt.Sprintf("Username,OUPath,Password\n%s,%q,%s\n", listed, jobOU, canary.Plain("listed")))
	assert.Equal(t, "done", ofJob(t, codeDone, "submit", people, "--operation", "user.create", "--watch").State)
	passwords := filepath.Join(t.TempDir(), "passwords.csv")
	ofJob(t, codeDone, "submit", list(t, named+"-reset.csv", "Username\n"+listed+"\n"), "--operation", "user.resetPassword", "--passwords-to", passwords)
	given := strings.Split(strings.TrimSpace(strings.Split(readText(t, passwords), "\n")[1]), ",")
	made = append(made, strings.Trim(given[len(given)-1], `"`))

	o.call(0, token, http.MethodPut, "/api/ADUser/helpdesk/ResetPassword", fmt.Sprintf(`{"newPassword":%q}`, canary.Secret("signs in")))
	made = append(made, o.signIn("helpdesk", canary.Secret("signs in")))
	command(t, "cluster", "rotate-key", "--config="+o.files[0])
	select {
	case signature := <-received:
		assert.NotEmpty(t, signature)
	case <-time.After(patience):
		t.Fatal("the webhook was not called")
	}
	o.readPages()
	o.find(made)
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// generatedPassword returns the password of an answer.
func generatedPassword(t *testing.T, answer string) string {
	t.Helper()
	var read struct {
		Result []struct{ Password string }
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &read))
	require.Len(t, read.Result, 1, answer)
	require.NotEmpty(t, read.Result[0].Password, answer)
	return read.Result[0].Password
}

// find looks for the secrets that were planted, those that were made, and the names; then
// it shows that each place was looked into, with what is there in clear.
func (o *overheard) find(made []string) {
	t := o.t
	secrets, everything := canary.New(made...), canary.New(append(made, named)...)
	none := func(hunt *canary.Hunt, where, text string) {
		for _, hit := range hunt.Find(where, []byte(text)) {
			t.Error(hit)
		}
	}
	places := o.places()
	for where, text := range places {
		none(everything, where, text)
	}
	none(everything, "status", o.status.String())
	assert.Contains(t, o.status.String(), "gw3")
	ofGateways := filesOf(t, o.folder)
	for path, text := range ofGateways {
		hunt := secrets
		if name := filepath.Base(path); strings.HasPrefix(name, "cluster-") || strings.HasSuffix(name, ".shared") || strings.HasSuffix(name, ".db") {
			hunt = everything
		}
		if path != "/cluster.key" {
			none(hunt, path, text)
		}
	}
	for _, g := range o.gateways { // of names, the log has who called
		assert.Contains(t, g.log.String(), "principal="+tokenName)
		none(everything, "log of a gateway", strings.ReplaceAll(g.log.String(), tokenName, ""))
	}

	o.writeUnsealed()
	found := func(text string) bool { return len(canary.New(unsealed).Find("", []byte(text))) > 0 }
	stores := map[string]bool{}
	for where, text := range o.places() {
		if store, _, inFile := strings.Cut(where, "/"); inFile {
			stores[store] = stores[store] || found(text)
			continue
		}
		assert.True(t, found(text), "%s: what was written there in clear is not found", where)
	}
	assert.Equal(t, map[string]bool{"store of n1": true, "store of n2": true, "store of n3": true}, stores)
	for _, gateway := range []string{"gw1", "gw2", "gw3"} {
		require.Eventually(t, func() bool {
			return found(readText(t, filepath.Join(o.folder, gateway, "cluster-test-"+gateway+".mirror")))
		}, patience, 50*time.Millisecond,
			"the mirror of %s", gateway)
	}
	assert.Contains(t, ofGateways["/gw1/audit.jsonl"], named+"-called", "a name that is in clear")
}

// writeUnsealed writes what is not sealed everywhere where a gateway writes what is: a value
// of the store, and names of a connection, a user and a consumer.
func (o *overheard) writeUnsealed() {
	t := o.t
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ways := o.ways()
	connect := func(more ...nats.Option) (*nats.Conn, error) {
		return nats.Connect(strings.Join(ways, ","), append(more, nats.Name(unsealed))...)
	}
	store, err := natsstore.Open(ctx, natsstore.Options{
		Name: "test", Gateway: unsealed, Mirror: filepath.Join(t.TempDir(), "mirror.db"), Connect: connect, Patience: patience,
	})
	require.NoError(t, err)
	_, err = store.Apply(ctx, keep.Change{Kind: unsealed, Key: unsealed, Value: []byte(unsealed)})
	require.NoError(t, err)
	conn, err := connect()
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	_, err = js.CreateConsumer(ctx, natsstore.StreamName("test"), jetstream.ConsumerConfig{Durable: unsealed, AckPolicy: jetstream.AckExplicitPolicy})
	require.NoError(t, err)
	_, err = connect(nats.UserInfo(unsealed, "x"))
	require.Error(t, err)
	require.NoError(t, conn.Flush())
	o.readPages()
	require.NoError(t, store.Close())
}
