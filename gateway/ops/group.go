package ops

var groupRows = []*Operation{}
