package test

var groupSamples = map[string]sample{}

var groupBefore = map[string]call{}
