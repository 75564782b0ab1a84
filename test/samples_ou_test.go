package test

var ouSamples = map[string]sample{
	"ou.list":   {},
	"ou.get":    {params: map[string]any{"OUPath": limitedOU}},
	"ou.exists": {params: map[string]any{"OUPath": limitedOU}},
}

var ouBefore = map[string]call{}
