package clients

// Views returns the fields that are shown of each type of records, by its name.
func Views() map[string][]string {
	out := map[string][]string{"PlanChange": {"object", "field", "from", "to"}}
	for _, v := range views {
		out[v.typ] = v.columns
	}
	return out
}
