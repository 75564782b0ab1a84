package directory

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestANR follows facts S1 to S6.
func TestANR(t *testing.T) {
	dc, _ := lab(t)
	base := "OU=ANR," + dc.Domain().RootDN()
	_, err := dc.Add(bg, base, Values{"objectClass", []any{"organizationalUnit"}})
	require.NoError(t, err)
	add := func(name string, attrs ...Values) {
		t.Helper()
		_, err := dc.Add(bg, "CN="+name+","+base,
			append([]Values{{"objectClass", []any{"user"}}, {"sAMAccountName", []any{name}}}, attrs...)...)
		require.NoError(t, err)
	}
	one := func(name, value string) Values { return Values{name, []any{value}} }
	add("u1", one("givenName", "Anna"), one("sn", "Schmidt"), one("displayName", "Schmidt, Anna"))
	add("u2", one("givenName", "Vincent"), one("sn", "van der Berg"))
	add("u3", one("givenName", "van"), one("sn", "der Bergen"))
	add("u4", one("legacyExchangeDN", "zz-legacy"), one("mail", "qq@x.example"),
		one("proxyAddresses", "smtp:pp@x.example"))
	add("u5", one("physicalDeliveryOfficeName", "Orlando 5"), one("description", "ww"))
	add("u6", one("displayName", "ab*cd"))
	add("u7", one("displayName", "abxcd"))
	found := func(filter string) []string {
		t.Helper()
		hits, err := dc.Search(bg, SearchRequest{Base: base, Filter: "(&(objectClass=user)" + filter + ")",
			Attributes: []string{"name"}})
		require.NoError(t, err)
		names := []string{}
		for _, o := range hits {
			names = append(names, o.String("name"))
		}
		slices.Sort(names)
		return names
	}
	for filter, want := range map[string][]string{
		"(anr=ann)": {"u1"}, "(anr~=ann)": {"u1"}, "(anr>=ann)": {"u1"}, "(anr<=ann)": {"u1"}, "(anr=  ann)": {"u1"},
		"(anr=nna)": {}, "(anr==anna)": {"u1"}, "(anr==ann)": {}, "(anr= =ann)": {},
		"(anr=anna sch)": {"u1"}, "(anr=sch anna)": {"u1"}, "(anr==anna schmidt)": {"u1"}, "(anr=schmidt, an)": {"u1"},
		"(anr=van der berg)": {"u2", "u3"}, "(anr=vincent van der)": {"u2"},
		"(anr=zz-legacy)": {"u4"}, "(anr=zz-leg)": {}, "(anr=qq@x)": {}, "(anr=smtp:pp)": {"u4"},
		"(anr=orlando)": {"u5"}, "(anr=ww)": {},
		"(anr=*)": {}, "(!(anr=*))": {"u1", "u2", "u3", "u4", "u5", "u6", "u7"}, "(anr=*cd)": {}, "(!(anr=*cd))": {},
		"(anr=ab*zz)": {"u6", "u7"}, `(anr=ab\2ac)`: {"u6"},
		// References are only compared as a whole, and have no order.
		"(manager=CN=*)": {}, "(!(manager=CN=*))": {}, "(manager>=CN=u1," + base + ")": {}, "(!(manager>=CN=u1," + base + "))": {},
	} {
		assert.Equal(t, want, found(filter), filter)
	}
}
