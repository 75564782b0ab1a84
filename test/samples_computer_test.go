package test

var computerSamples = map[string]sample{}

var computerBefore = map[string]call{}
