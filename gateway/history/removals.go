package history

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"adgateway/gateway/changes"
	"adgateway/gateway/schema"
	"adgateway/ps"
)

// Records of the Recycle Bin name the change that removed the object. The directory does not store the id of
// that change, so the gateway adds it.

// removalField is the field for the id of that change.
const removalField = "changeId"

// clockSkew is the maximum difference between the clocks of the gateway and the directory.
const clockSkew = time.Hour

// Removals finds the changes in a history that removed objects.
type Removals struct {
	History *changes.History
	Log     *logrus.Logger
}

// Amend returns [Removals.In] for the shapes of deleted objects.
func (m Removals) Amend() map[*schema.Shape]func(context.Context, json.RawMessage) json.RawMessage {
	return map[*schema.Shape]func(context.Context, json.RawMessage) json.RawMessage{
		schema.DeletedObject: m.In, schema.DeletedDetails: m.In,
	}
}

// In adds the ids of the changes that removed the objects to a batch of records of deleted objects.
// It returns a batch that cannot be parsed unchanged.
func (m Removals) In(ctx context.Context, batch json.RawMessage) json.RawMessage {
	var records []map[string]json.RawMessage
	if json.Unmarshal(batch, &records) != nil {
		return batch
	}
	wanted, oldest := map[string]string{}, time.Now()
	for _, record := range records {
		wanted[strings.ToLower(schema.TextIn(record, "guid"))] = ""
		// An invalid time counts as zero.
		deleted, _ := time.Parse(time.RFC3339, schema.TextIn(record, "deletedAbout"))
		if deleted.Before(oldest) {
			oldest = deleted
		}
	}
	m.find(ctx, wanted, oldest.Add(-clockSkew))
	for _, record := range records {
		record[removalField] = schema.JSON(wanted[strings.ToLower(schema.TextIn(record, "guid"))])
	}
	return schema.JSON(records)
}

// find finds the latest changes since a time that removed objects, given the GUIDs in lower case.
func (m Removals) find(ctx context.Context, wanted map[string]string, since time.Time) {
	left, seen := len(wanted), 0
	err := m.History.Newest(ctx, time.Time{}, "", nil, func(c *changes.Record) bool {
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
		m.Log.WithError(err).Warn("who has removed what is in the Recycle Bin could not be looked up")
	}
}
