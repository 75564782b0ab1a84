// Command manychanges fills the history of a store that no gateway has open, by default with 1,000,000
// changes of 50,000 users by 100 callers within 300 days. A gateway with this store then shows how it
// copes with a large history, although nobody made the changes.
//
//	go run ./test/manychanges -store /tmp/state.db
//	adgateway sandbox --set store.file=/tmp/state.db --set changes.keepFor=400d --set changes.maxSize=4096
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"adgateway/gateway/changes"
	"adgateway/gateway/identity"
	"adgateway/gateway/store"
	"adgateway/ps"
)

// The number of users and callers in the history, and the days that it covers.
const (
	users   = 50_000
	callers = 100
	days    = 300
)

// together is the number of changes that are stored together.
const together = store.MostChanges / 3

func main() {
	path := flag.String("store", "", "the file of the store, with its key beside it; new if it does not exist")
	number := flag.Int("changes", 1_000_000, "number of changes")
	flag.Parse()
	if *path == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := fill(*path, *number); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fill(path string, number int) error {
	key, err := store.ReadKey(path + ".key")
	if err != nil {
		return err
	}
	file, _, err := store.Open(store.Options{Path: path})
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // an error is returned below
	db, err := store.Seal(file, key)
	if err != nil {
		return err
	}
	history := changes.New(db, 2*days*24*time.Hour, 1<<40)
	begin := time.Now().AddDate(0, 0, -days)
	for first := 0; first < number; first += together {
		err = db.Update(context.Background(), func(tx *store.Tx) error {
			for i := first; i < min(first+together, number); i++ {
				at := begin.Add(time.Duration(i) * (days * 24 * time.Hour / time.Duration(number)))
				if err := history.PutEnded(tx, change(i, at)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return file.Close()
}

// change returns a change of the office of one user.
func change(i int, at time.Time) *changes.Record {
	user := i * 7919 % users
	name, caller := fmt.Sprintf("user%05d", user), i*i%callers
	guid := uuid.NewSHA1(uuid.NameSpaceDNS, []byte(name)).String()
	return &changes.Record{
		ID: "ch_" + idAt(at, i), RequestID: uuid.NewString(), Time: at.UTC(),
		Author: changes.Author{
			Caller: fmt.Sprintf("token %d", caller), By: identity.ID{Kind: "token", ID: fmt.Sprintf("t%011d", caller)},
		},
		Operation: "user.update", Server: "dc1.corp.example", Outcome: ps.OutcomeDone,
		Parameters: map[string]string{"Office": fmt.Sprintf("Room %d", i), "ShowFields": "*", "Username": name},
		Intent: ps.Intent{Effect: ps.EffectChanged, Objects: []ps.Intended{{
			GUID: guid, DN: "CN=" + name + ",OU=Team 0001,OU=Generated,DC=corp,DC=example",
			Names: []string{name, name + "@corp.example", fmt.Sprintf("S-1-5-21-1004336348-1177238915-682003330-%d", 2000+user)},
			Changes: []ps.IntendedChange{{
				Name: "physicalDeliveryOfficeName", Before: fmt.Sprintf("Room %d", i-1), After: fmt.Sprintf("Room %d", i),
			}},
		}}},
	}
}

// idAt returns the i-th id of version 7, for a time.
func idAt(at time.Time, i int) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16)
	binary.BigEndian.PutUint64(id[8:], uint64(i))
	id[6], id[8] = 0x70, 0x80
	return id.String()
}
