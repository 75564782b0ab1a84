package identity

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatAPrincipalHas(t *testing.T) {
	p := &Principal{Scopes: []Scope{UserRead, DNSWrite}}
	assert.True(t, p.Has(UserRead))
	assert.False(t, p.Has(DNSRead), "a write scope does not imply the read scope")
	assert.False(t, p.Has(Privileged))
	all := &Principal{Scopes: []Scope{All}}
	every := &Principal{Scopes: Everything()}
	for _, scope := range Scopes() {
		assert.Equal(t, !scope.Apart(), all.Has(scope), scope)
		assert.True(t, every.Has(scope), scope)
	}
	assert.Equal(t, []Scope{All, LapsReveal, LapsExpire, RecoveryList, RecoveryReveal}, every.Scopes)
}

func TestIDs(t *testing.T) {
	account := &Principal{ID: "4f0c", Name: "portal", Kind: KindToken}
	namesake := &Principal{ID: "77aa", Name: "portal", Kind: KindToken}
	ofSandbox := &Principal{Name: "portal", Kind: KindToken}
	user := &Principal{Name: "portal", Kind: KindUser}
	assert.Equal(t, "token 4f0c", account.Identity().String())
	assert.Equal(t, "token portal", ofSandbox.Identity().String(), "without an id it goes by its name")
	assert.NotEqual(t, account.Identity(), namesake.Identity(), "a name that is used again is another caller")
	assert.NotEqual(t, ofSandbox.Identity(), user.Identity())
}
