package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"adgateway/gateway/changes"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Records of the Recycle Bin name the change that has removed the object. The directory does
// not know it, so that the gateway fills it in.

// removalField is the field with the identity of that change.
const removalField = "changeId"

// clockSkew is how much the clocks of the gateway and of the directory may differ.
const clockSkew = time.Hour

// withRemovals returns a batch of records of deleted objects with the changes that have
// removed them. A batch that cannot be read is returned as it is, as is one for which the
// history has nothing.
func (s *Server) withRemovals(ctx context.Context, shape *schema.Shape, batch json.RawMessage) json.RawMessage {
	if shape != schema.DeletedObject && shape != schema.DeletedDetails {
		return batch
	}
	var records []map[string]json.RawMessage
	if json.Unmarshal(batch, &records) != nil {
		return batch
	}
	wanted, oldest := map[string]string{}, time.Now()
	for _, record := range records {
		guid, deleted := textIn(record, "guid"), moment(textIn(record, "deletedAbout"))
		wanted[strings.ToLower(guid)] = ""
		if deleted.Before(oldest) {
			oldest = deleted
		}
	}
	s.findRemovals(ctx, wanted, oldest.Add(-clockSkew))
	for _, record := range records {
		record[removalField] = encode(wanted[strings.ToLower(textIn(record, "guid"))])
	}
	return encode(records)
}

// findRemovals finds the latest changes that have removed objects, by their GUIDs in lower
// case, among those since a time.
func (s *Server) findRemovals(ctx context.Context, wanted map[string]string, since time.Time) {
	left, seen := len(wanted), 0
	err := s.History.Newest(ctx, time.Time{}, "", func(c *changes.Record) bool {
		seen++
		if left == 0 || seen > maxScan || c.Time.Before(since) {
			return false
		}
		if c.Intent.Effect != ps.EffectRemoved || c.Running {
			return true
		}
		for i := range c.Intent.Objects {
			guid := c.Intent.Objects[i].GUID
			found, is := wanted[strings.ToLower(guid)]
			if is && found == "" && !slices.Contains(c.Failed, guid) {
				wanted[strings.ToLower(guid)] = c.ID
				left--
			}
		}
		return true
	})
	if err != nil {
		s.Log.WithError(err).Warn("who has removed what is in the Recycle Bin could not be looked up")
	}
}

// textIn returns a text of a record; empty if it has none.
func textIn(record map[string]json.RawMessage, member string) (text string) {
	_ = json.Unmarshal(record[member], &text) // stays empty unless it is a text
	return text
}
