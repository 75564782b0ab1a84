package engine

import "testing"

// TestChangedWhileEnumerated: if a collection changes while a loop or a pipeline enumerates it, even after
// the last item, and .NET would report an error, the engine refuses the run.
func TestChangedWhileEnumerated(t *testing.T) {
	const (
		refused = "REFUSED: a change of a collection while it is enumerated."
		table   = "$h = @{ a = 1; b = 2 }; "
		list    = "$l = New-Object -TypeName 'System.Collections.Generic.List[object]'; foreach ($n in 1, 2, 3) " +
			"{ $l.Add($n) }; "
	)
	runTable(t, map[string]scriptTest{
		"value set":               {table + "foreach ($k in $h.Keys) { $h[$k] = 5 }", refused},
		"value set in an ordered": {"$h = [ordered]@{ a = 1; b = 2 }; foreach ($k in $h.Keys) { $h[$k] = 5 }", refused},
		"list added to":           {list + "foreach ($i in $l) { $l.Add(1) }; $l.Count", refused},
		"array item set":          {"$a = 1, 2; foreach ($i in $a) { $a[1] = 9; $i }", "1|9"},
		"variable set anew":       {list + "foreach ($i in $l) { $l = 5; $i }", "1|2|3"},
		"pipeline":                {table + "$h.Keys | ForEach-Object { $h[$_ + 'x'] = 1 }; $h.Count", refused},
		"pipeline of a list":      {list + "$l | ForEach-Object { $l.Add($_) }; $l.Count", refused},
		"pipeline of a command":   {list + "& { $l } | ForEach-Object { $l.Add($_) }; $l.Count", refused},
		"kept keys follow":        {table + "$k = $h.Keys; $h['c'] = 3; $k.Count; $k -join ','; [bool]$k", "3|a,b,c|True"},
		"kept keys, then changed": {table + "$k = $h.Keys; $h['c'] = 3; foreach ($x in $k) { $h[$x] = 1 }", refused},
	})
}
