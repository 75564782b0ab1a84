# Prints the results of benchmarks as a table in Markdown, and all other output except reports of success
# unchanged. Fails if a benchmark failed.
/^pkg:/ { package = $2; next }
/^(goos|goarch|cpu|PASS|ok|\?)/ { if ($1 == "cpu:" && !said++) print "\n" $0; next }
/^Benchmark.*ns\/op/ {
	if (package != shown) {
		print "\n" package "\n\n| benchmark | runs | figures |\n|---|---|---|"
		shown = package
	}
	figures = ""
	for (i = 3; i < NF; i += 2)
		figures = figures (figures == "" ? "" : ", ") $i " " $(i + 1)
	name = $1
	sub(/^Benchmark/, "", name)
	print "| " name " | " $2 " | " figures " |"
	fflush()
	next
}
/^FAILED$/ { failed = 1; next }
{ print; fflush() }
END { exit failed }
