package clients

// Views returns the names of the fields shown for each type of record.
func Views() map[string][]string {
	out := map[string][]string{"PlanChange": {"object", "field", "from", "to"}}
	for _, v := range views {
		out[v.typ] = v.columns
	}
	return out
}
