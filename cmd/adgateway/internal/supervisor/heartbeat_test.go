package supervisor_test

const asMeasured = "measured"

func runMeasured([]string) int { return 0 }
