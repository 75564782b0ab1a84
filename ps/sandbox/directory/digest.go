package directory

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strconv"
	"strings"
)

// undigested are the attributes that differ between two objects that were made by the
// same calls: identities and times. volatile are left out as well.
var undigested = map[string]bool{
	"objectGUID": true, "objectSid": true, "whenCreated": true, "pwdLastSet": true,
	"badPasswordTime": true, "lastLogonTimestamp": true, "lockoutTime": true,
}

// Digest returns a hash of all objects with their attributes. Two snapshots have the same
// one if people would find the same in both: identities, times and the order of values do
// not count, nor passwords.
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
			values := plain(o.attrs[name])
			slices.Sort(values)
			put(sum, name, strconv.Itoa(len(values)))
			put(sum, values...)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// put adds texts with their lengths, so that no two lists give the same bytes.
func put(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		sum.Write([]byte(strconv.Itoa(len(text)) + ":" + text)) // never fails
	}
}
