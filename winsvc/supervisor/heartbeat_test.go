package supervisor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/engine"
	"adgateway/gateway/engine/stock"
	"adgateway/test/freeport"
)

// asMeasured is the first argument of a program of the measurement below. The other arguments are the folder,
// the address of the node or "-", and the address for streaming lists or "-".
const asMeasured = "measured"

// The number of lists that are streamed at a time in the measurement, the number of records at the beginning
// of a list that are kept until the list ends, and the interval between requests to the node.
const (
	listsAtATime = 4
	keptRecords  = 20_000
	heartbeat    = 100 * time.Millisecond
)

// TestHeartbeats measures for how long a node does not answer while no process, another process, or its own
// process streams lists of HEARTBEATS bytes in total (5e9). It asserts no times.
func TestHeartbeats(t *testing.T) {
	total, err := strconv.ParseFloat(os.Getenv("HEARTBEATS"), 64)
	if err != nil {
		t.Skip("a measurement: set HEARTBEATS to a number of bytes")
	}
	for name, c := range map[string]struct {
		size     float64
		programs func(folder, node, lists string) [][]string
	}{
		"no list": {0, func(folder, node, _ string) [][]string {
			return [][]string{{folder, node, "-"}}
		}},
		"two processes": {total, func(folder, node, lists string) [][]string {
			return [][]string{{folder, node, "-"}, {folder, "-", lists}}
		}},
		"one process": {total, func(folder, node, lists string) [][]string {
			return [][]string{{folder, node, lists}}
		}},
	} {
		t.Run(name, func(t *testing.T) { t.Log(measure(t, c.size, c.programs)) })
	}
}

// heartbeats are the answer times of a node.
type heartbeats struct {
	took    []time.Duration
	longest time.Duration // between two answers
	over    time.Duration // duration of the measurement
}

func (h heartbeats) String() string {
	slices.Sort(h.took)
	at := func(share float64) time.Duration {
		return h.took[int(share*float64(len(h.took)-1))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%d heartbeats in %s; answered in %s (median), %s (99%%), %s (longest); longest gap %s",
		len(h.took), h.over.Round(time.Second/10), at(0.5), at(0.99), at(1), h.longest.Round(time.Millisecond))
}

// measure sends requests to the node of the programs at each interval until it has read
// lists of the given size, or for five seconds without lists.
func measure(t *testing.T, size float64, programs func(folder, node, lists string) [][]string) heartbeats {
	addresses := freeport.Addresses(t, 2)
	for _, arguments := range programs(t.TempDir(), addresses[0], addresses[1]) {
		command := exec.Command(os.Args[0], append([]string{asMeasured}, arguments...)...)
		command.Stderr = os.Stderr
		output, err := command.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, command.Start())
		defer func() {
			_ = command.Process.Kill()
			_ = command.Wait()
		}()
		_, err = bufio.NewReader(output).ReadString('\n')
		require.NoError(t, err)
	}
	connection, err := nats.Connect(addresses[0])
	require.NoError(t, err)
	defer connection.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if size == 0 {
			time.Sleep(5 * time.Second)
			return
		}
		var readers sync.WaitGroup
		for range listsAtATime {
			readers.Go(func() { readList(addresses[1], int64(size)/listsAtATime) })
		}
		readers.Wait()
	}()
	h, begun, last := heartbeats{}, time.Now(), time.Now()
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-done:
			h.over = time.Since(begun)
			return h
		case <-tick.C:
			took, err := connection.RTT()
			require.NoError(t, err)
			h.took = append(h.took, took)
			h.longest = max(h.longest, time.Since(last))
			last = time.Now()
		}
	}
}

func readList(address string, size int64) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	defer func() { _ = connection.Close() }()
	if n, err := io.Copy(io.Discard, io.LimitReader(connection, size)); n != size {
		panic(fmt.Sprint(n, err))
	}
}

// runMeasured runs a node, a server that streams lists, or both.
func runMeasured(folder, node, lists string) error {
	debug.SetMemoryLimit(4 << 30)
	if node != "-" {
		o := stock.Options{Node: "n1", Listen: node, Store: filepath.Join(folder, "data"), MaxStore: 1 << 30}
		if _, err := engine.Start(context.Background(), engine.Options{Options: o}); err != nil {
			return err
		}
	}
	if lists == "-" {
		fmt.Println("it runs")
		select {}
	}
	l, err := net.Listen("tcp", lists)
	if err != nil {
		return err
	}
	fmt.Println("it runs")
	for {
		connection, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = connection.Close() }()
			writeList(connection)
		}()
	}
}

// writeList writes records until its reader closes the connection. Like a gateway, it
// decodes them from JSON and encodes them again.
func writeList(w io.Writer) {
	fields := []string{}
	for i := range 25 {
		fields = append(fields, fmt.Sprintf(`"attribute%02d":"%s"`, i, strings.Repeat("value ", 60)))
	}
	record := []byte("{" + strings.Join(fields, ",") + "}")
	var kept []map[string]any
	for n := 0; ; n++ {
		var values map[string]any
		if err := json.Unmarshal(record, &values); err != nil {
			panic(err)
		}
		values["number"] = n
		if n < keptRecords {
			kept = append(kept, values)
		} else {
			values["before"] = kept[n%keptRecords]["number"]
		}
		text, err := json.Marshal(values)
		if err != nil {
			panic(err)
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return
		}
	}
}
