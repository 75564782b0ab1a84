package texts

// table contains a text in each language, by key.
type table map[string][2]string
