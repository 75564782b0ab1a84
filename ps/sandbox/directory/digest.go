package directory

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strconv"
	"strings"
)

// undigested are the attributes that differ between objects made by equal calls: identities
// and times. The attributes in volatile are also omitted from digests.
var undigested = map[string]bool{
	"objectGUID": true, "objectSid": true, "whenCreated": true, "pwdLastSet": true,
	"badPasswordTime": true, "lastLogonTimestamp": true, "lockoutTime": true,
}

// Digest returns a hash of all objects with their attributes. Snapshots have equal hashes if they look equal
// to people. Identities, times, passwords and the order of values do not count.
func (s *Snapshot) Digest() string {
	objects := make([]*snapObject, 0, len(s.objects))
	for _, o := range s.objects {
		objects = append(objects, o)
	}
	slices.SortFunc(objects, func(a, b *snapObject) int { return strings.Compare(a.dn, b.dn) })
	sum := sha256.New()
	for _, o := range objects {
		put(sum, o.dn)
		names := make([]string, 0, len(o.attrs))
		for name := range o.attrs {
			if !volatile[name] && !undigested[name] {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		put(sum, strconv.Itoa(len(names)))
		for _, name := range names {
			values := s.plain(o.attrs[name])
			slices.Sort(values)
			put(sum, name, strconv.Itoa(len(values)))
			put(sum, values...)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// put adds texts with their lengths, so that different lists result in different bytes.
func put(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		sum.Write([]byte(strconv.Itoa(len(text)) + ":" + text)) // never fails
	}
}
