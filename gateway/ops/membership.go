package ops

var membershipRows = []*Operation{}
