package history

import (
	"encoding/json"

	"adgateway/gateway/change"
	"adgateway/gateway/schema"
	"adgateway/gateway/settle"
	"adgateway/ps"
)

// compare adds the current value to each value of a change that a caller can see, and whether the change
// wrote the current value. states are the states of the change's objects.
func (p *past) compare(shown *shownChange, sight change.Sight, states []settle.State) {
	from, at := p.made.Announcement(), 0
	for i := range p.Intent.Objects {
		object := &p.Intent.Objects[i]
		state := states[i]
		if state.DN != "" && p.made.Op.Lane == ps.Directory && !sight.Within(state.DN) {
			state = settle.State{}
		}
		values := p.made.Values(sight.Bounds, object, func(value *change.ShownValue, c ps.IntendedChange) {
			value.Now, value.State = compareValue(from, object, c, value.Change, state)
		})
		if len(values) > 0 && at < len(shown.Objects) {
			shown.Objects[at].Changes = values
			at++
		}
	}
}

// compareValue returns the current value, and whether the change wrote that value.
func compareValue(
	from change.Announcement, object *ps.Intended, c ps.IntendedChange, planned change.Change,
	state settle.State,
) (json.RawMessage, string) {
	null := json.RawMessage("null")
	now, known := state.Value(c.Name)
	switch {
	case state.Values == nil, !known && !state.Gone(), planned.Kind == schema.SetsSecret:
		return null, schema.NotReadable
	case state.Gone() && (c.Name != change.Existence || c.After == "True"):
		return null, schema.Gone
	case c.Renewed && c.After == "":
		if now == c.Before {
			return null, schema.DriftedAway
		}
		return null, schema.Unchanged
	case sameValue(c.Name, now, c.After):
		return planned.After, schema.Unchanged
	}
	other := c
	other.After = now
	for _, value := range from.Changes(object, other) {
		if value.Field == planned.Field {
			return value.After, schema.DriftedAway
		}
	}
	return planned.Before, schema.DriftedAway // unchanged since before the change
}
