package ops

var computerRows = []*Operation{}
