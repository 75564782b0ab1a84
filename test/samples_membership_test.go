package test

var membershipSamples = map[string]sample{}

var membershipBefore = map[string]call{}
