package texts

// table has a text for each language, by key.
type table map[string][2]string
