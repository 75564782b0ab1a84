package directory

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

func TestCompileFilter(t *testing.T) {
	tests := []struct{ in, out string }{
		{"(cn=a)", "(cn=a)"},
		{" ( & (cn=a) (sn=b*) ) ", "(&(cn=a) (sn=b*) )"},
		{"(cn=*)", "(cn=*)"},
		{"(cn=*a*b*)", "(cn=*a*b*)"},
		{"(cn=a*)", "(cn=a*)"},
		{"(!(cn=a))", "(!(cn=a))"},
		{"(!cn=a)", "(!(cn=a))"}, // accepted by Active Directory
		{"(|(a=1)(b>=2)(c<=3)(d~=4))", "(|(a=1)(b>=2)(c<=3)(d~=4))"},
		{`(cn=\28x\29\2A\5c\00)`, `(cn=\28x\29\2a\5c\00)`}, // facts C13
		{`(cn=\C3\BC)`, "(cn=ü)"},
		{"(userAccountControl:1.2.840.113556.1.4.803:=2)", "(userAccountControl:1.2.840.113556.1.4.803:=2)"},
		{"(cn=)", "(cn=)"},
		{"(cn= a )", "(cn= a )"},
		{"(member;range=0-1=x)", ""},
	}
	for _, tt := range tests {
		f, err := CompileFilter(tt.in)
		if tt.out == "" {
			continue
		}
		require.NoError(t, err, tt.in)
		assert.Equal(t, strings.ReplaceAll(tt.out, ") ", ")"), f.String())
	}
}

func TestCompileFilterRefuses(t *testing.T) {
	deep := strings.Repeat("(!", 200) + "(a=b)" + strings.Repeat(")", 200)
	for _, in := range []string{
		"", "cn=a", "(", ")", "()", "(cn)", "(cn=a", "(cn=a))", "(&)", "(|)", "(!)", "(&(cn=a)", "(=a)", "(cn=a)(sn=b)", "(cn=(a))",
		`(cn=\)`, `(cn=\4)`, `(cn=\zz)`, "(cn>a)", "(cn>=a*)", "(cn=a**b)", "(cn:1.2.3:=x)", "(:1.2.840.113556.1.4.803:=2)",
		"(cn:1.2.840.113556.1.4.803=2)", "(c n=a)", "(cn=a\x00)", "(&cn=a)", deep, strings.Repeat("x", maxFilterText+1),
	} {
		_, err := CompileFilter(in)
		requireCode(t, CodeFilterUnknown, KindSyntax, err)
	}
}

func TestAllOf(t *testing.T) {
	compile := func(text string) *Filter {
		f, err := CompileFilter(text)
		require.NoError(t, err)
		return f
	}
	both, or := compile("(&(a=1)(b=2))"), compile("(|(c=3)(d=4))")
	assert.Equal(t, "(&(a=1)(b=2)(|(c=3)(d=4)))", AllOf(nil, both, or).String())
	assert.Equal(t, "(&(|(c=3)(d=4))(a=1)(b=2))", AllOf(or, both).String())
	assert.Equal(t, "(&(a=1)(b=2)(b=3)(a>=1)(b=4))",
		AllOf(both, compile("(&(b=2)(b=3)(a>=1)(b=4)(a=1))")).String())
	assert.Equal(t, "(&(a=1)(b=2))", both.String(), "the arguments are unchanged")
	assert.Nil(t, AllOf())
	assert.Nil(t, AllOf(nil, nil))
}

func TestEscapeFilter(t *testing.T) {
	assert.Equal(t, `\2a\28\29\5c\00/ü'`, EscapeFilter("*()\\\x00/ü'"))
	assert.Equal(t, "plain", EscapeFilter("plain"))
	assert.Equal(t, `\00\ff`, EscapeFilterBytes([]byte{0, 255}))
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"(cn=a)", "(&(a=b)(!(c=*d*e)))", `(objectGUID=\00\ff)`,
		"(m:1.2.840.113556.1.4.1941:=CN=a)", "(|(a>=1)(b<=2)(anr=x y))", "(((("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := CompileFilter(s)
		if err != nil {
			return
		}
		again, err := CompileFilter(c.String())
		require.NoError(t, err, c.String())
		require.Equal(t, c.String(), again.String())
	})
}

// FuzzSearch runs any filter on the built-in domain. The indexed search must return the same
// objects as a scan of all objects.
func FuzzSearch(f *testing.F) {
	dc, _ := lab(f)
	for _, s := range searchSeeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := CompileFilter(s)
		if err != nil {
			return
		}
		requireSameHits(t, dc, c, "")
	})
}

func requireSameHits(t testing.TB, dc *DC, c *Filter, base string) int {
	t.Helper()
	got, err := dc.Search(bg, SearchRequest{Base: base, Compiled: c, Attributes: []string{"name"}})
	v, release, bad := dc.view("search")
	require.NoError(t, bad)
	defer release()
	m, e := v.bind(c.root)
	if e != nil {
		require.Error(t, err)
		return 0
	}
	require.NoError(t, err)
	from := v.rep.root
	if base != "" {
		from, e = v.rep.resolve(base)
		require.Nil(t, e)
	}
	var want []GUID
	from.walk(func(n *node) {
		if !n.deleted && v.match(m, n) == yes {
			want = append(want, n.guid)
		}
	})
	guids := make([]GUID, len(got))
	for i, o := range got {
		guids[i] = o.GUID
	}
	require.ElementsMatch(t, want, guids, c.String())
	return len(got)
}

func searchSeeds(t testing.TB) []string {
	b, err := os.ReadFile("testdata/filters.txt")
	require.NoError(t, err)
	var out []string
	for _, line := range strings.Split(string(b), "\n") {
		if f, _, _ := strings.Cut(line, "\t"); strings.HasPrefix(f, "(") {
			out = append(out, f)
		}
	}
	return out
}

// TestFilters: each filter in testdata/filters.txt finds the listed objects. A line is a
// filter, a tab, and the names of the results or their number. -update rewrites the results.
func TestFilters(t *testing.T) {
	dc, _ := lab(t)
	const file = "testdata/filters.txt"
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	for i, line := range lines {
		filter, want, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(filter, "(") {
			continue
		}
		c, err := CompileFilter(filter)
		require.NoError(t, err, filter)
		got := hits(t, dc, c)
		if *update {
			lines[i] = filter + "\t" + got
			continue
		}
		assert.Equal(t, want, got, filter)
		if !strings.HasPrefix(got, "error") {
			requireSameHits(t, dc, c, "")
			requireSameHits(t, dc, c, "OU=Corp,DC=corp,DC=example")
			requireSameHits(t, dc, c, "OU=IT,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example")
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	}
}

func hits(t testing.TB, dc *DC, c *Filter) string {
	objs, err := dc.Search(bg, SearchRequest{Compiled: c, Attributes: []string{"name"}})
	if err != nil {
		code, _ := CodeOf(err)
		return "error " + itoa(int64(code))
	}
	if len(objs) > 6 {
		return "# " + itoa(int64(len(objs)))
	}
	names := make([]string, len(objs))
	for i, o := range objs {
		names[i] = strings.ReplaceAll(o.String("name"), "\t", " ")
	}
	return strings.Join(names, " | ")
}

// TestRandomFilters: for random combinations of filters, an indexed search returns the same
// objects as a scan.
func TestRandomFilters(t *testing.T) {
	dc, _ := lab(t)
	r := rand.New(rand.NewPCG(5, 5))
	seeds := searchSeeds(t)
	var build func(depth int) string
	build = func(depth int) string {
		switch k := r.IntN(8); {
		case depth > 3 || k < 5:
			return seeds[r.IntN(len(seeds))]
		case k == 5:
			return "(!" + build(depth+1) + ")"
		default:
			s := "(" + "&|"[k-6:k-5]
			for i := 0; i <= r.IntN(3); i++ {
				s += build(depth + 1)
			}
			return s + ")"
		}
	}
	total := 0
	for i := 0; i < 400; i++ {
		text := build(0)
		c, err := CompileFilter(text)
		require.NoError(t, err, text)
		total += requireSameHits(t, dc, c,
			[]string{"", "OU=Staff,OU=Corp,DC=corp,DC=example", "CN=Users,DC=corp,DC=example"}[i%3])
	}
	assert.Positive(t, total)
}
