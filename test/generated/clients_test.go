// Package generated tests a running gateway with clients that oapi-codegen generates from the gateway's
// documents. It is run by "make clients".
package generated

import (
	"context"
	"net/http"
	"os"
	"testing"

	"adgateway/test/generated/testdata/classic"
	"adgateway/test/generated/testdata/standard"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Environment variables that "make clients" sets to the address of the sandbox and to a token for each
// dialect.
const (
	addressVariable  = "GATEWAY_URL"
	tokenVariable    = "GATEWAY_TOKEN"
	classicVariable  = "GATEWAY_CLASSIC_TOKEN"
	berlin           = "OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example"
	zone, cname, web = "corp.example", "oapi-alias", "web1.corp.example"
)

func setting(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	require.NotEmpty(t, value, "%s is not set; run make clients", name)
	return value
}

func bearer(token string) func(context.Context, *http.Request) error {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

func ptr[T any](v T) *T { return &v }

func standardClient(t *testing.T) *standard.ClientWithResponses {
	t.Helper()
	c, err := standard.NewClientWithResponses(setting(t, addressVariable),
		standard.WithRequestEditorFn(bearer(setting(t, tokenVariable))))
	require.NoError(t, err)
	return c
}

func TestUser(t *testing.T) {
	c, ctx := standardClient(t), t.Context()

	created, err := c.UserCreateWithResponse(ctx, "oapi.user", nil, standard.UserCreateJSONRequestBody{
		FirstName: ptr("Jörg"), LastName: ptr("O'Neil"), OUPath: ptr(berlin), Password: ptr("Corr3ct-Horse"),
	})
	require.NoError(t, err)
	require.NotNil(t, created.JSON201, "%s", created.Body)
	again, err := c.UserCreateWithResponse(ctx, "oapi.user", nil, standard.UserCreateJSONRequestBody{})
	require.NoError(t, err)
	require.NotNil(t, again.JSON409, "%s", again.Body)
	assert.EqualValues(t, "conflict", again.JSON409.Error.Code)

	read, err := c.UserGetWithResponse(ctx, "oapi.user", nil)
	require.NoError(t, err)
	require.NotNil(t, read.JSON200, "%s", read.Body)
	user := read.JSON200.Result[0]
	assert.Equal(t, "Jörg", *user.FirstName)
	assert.True(t, *user.Enabled)
	byGUID, err := c.UserGetByGuidWithResponse(ctx, &standard.UserGetByGuidParams{UserGuid: user.Guid.String()})
	require.NoError(t, err)
	require.NotNil(t, byGUID.JSON200, "%s", byGUID.Body)
	assert.Equal(t, *user.DistinguishedName, *byGUID.JSON200.Result[0].DistinguishedName)

	updated, err := c.UserUpdateWithResponse(ctx, "oapi.user", nil,
		standard.UserUpdateJSONRequestBody{JobTitle: ptr("Clerk"), FirstName: ptr("")})
	require.NoError(t, err)
	require.NotNil(t, updated.JSON200, "%s", updated.Body)
	assert.Equal(t, "Clerk", *updated.JSON200.Result[0].JobTitle)
	assert.Nil(t, updated.JSON200.Result[0].FirstName, "an empty text clears")

	list, err := c.UserListWithResponse(ctx,
		&standard.UserListParams{OUPath: ptr(berlin), Recursive: ptr(false)})
	require.NoError(t, err)
	require.NotNil(t, list.JSON200, "%s", list.Body)
	assert.Contains(t, names(list.JSON200.Result), "oapi.user")

	refused, err := c.UserUpdateWithResponse(ctx, "oapi.user", nil,
		standard.UserUpdateJSONRequestBody{Country: ptr("Atlantis")})
	require.NoError(t, err)
	require.NotNil(t, refused.JSON400, "%s", refused.Body)
	assert.Equal(t, "Country", refused.JSON400.Error.Details[0].Field)

	deleted, err := c.UserDeleteWithResponse(ctx, "oapi.user", nil)
	require.NoError(t, err)
	require.NotNil(t, deleted.JSON200, "%s", deleted.Body)
	gone, err := c.UserGetWithResponse(ctx, "oapi.user", nil)
	require.NoError(t, err)
	require.NotNil(t, gone.JSON404, "%s", gone.Body)
}

func names(users []standard.User) (names []string) {
	for _, u := range users {
		names = append(names, *u.Username)
	}
	return names
}

func TestGroup(t *testing.T) {
	c, ctx := standardClient(t), t.Context()

	created, err := c.GroupCreateSecurityWithResponse(ctx, "oapi-group", nil,
		standard.GroupCreateSecurityJSONRequestBody{
			GroupDescription: ptr("two\nlines"),
			GroupScope:       ptr(standard.GroupCreateSecurityJSONBodyGroupScopeUniversal),
		})
	require.NoError(t, err)
	require.NotNil(t, created.JSON201, "%s", created.Body)
	read, err := c.GroupGetWithResponse(ctx, "oapi-group")
	require.NoError(t, err)
	require.NotNil(t, read.JSON200, "%s", read.Body)
	assert.Equal(t, "two\nlines", *read.JSON200.Result[0].Description)
	renamed, err := c.GroupRenameWithResponse(ctx, "oapi-group", "oapi-team", nil,
		standard.GroupRenameJSONRequestBody{})
	require.NoError(t, err)
	require.NotNil(t, renamed.JSON200, "%s", renamed.Body)
	list, err := c.GroupListAllWithResponse(ctx)
	require.NoError(t, err)
	require.NotNil(t, list.JSON200, "%s", list.Body)
	assert.Greater(t, len(list.JSON200.Result), 1)
	refused, err := c.GroupCreateSecurityWithResponse(ctx, "oapi-group", nil,
		standard.GroupCreateSecurityJSONRequestBody{
			GroupScope: ptr(standard.GroupCreateSecurityJSONBodyGroupScope("Galactic")),
		})
	require.NoError(t, err)
	require.NotNil(t, refused.JSON400, "%s", refused.Body)
	assert.Equal(t, "GroupScope", refused.JSON400.Error.Details[0].Field)
	deleted, err := c.GroupDeleteWithResponse(ctx, "oapi-team", nil)
	require.NoError(t, err)
	require.NotNil(t, deleted.JSON200, "%s", deleted.Body)
}

func TestCNAME(t *testing.T) {
	c, ctx := standardClient(t), t.Context()

	created, err := c.CnameCreateWithResponse(ctx, nil,
		standard.CnameCreateJSONRequestBody{DNSHostName: cname, DNSHostNameAlias: web, ZoneName: zone})
	require.NoError(t, err)
	require.NotNil(t, created.JSON201, "%s", created.Body)
	again, err := c.CnameCreateWithResponse(ctx, nil,
		standard.CnameCreateJSONRequestBody{DNSHostName: cname, DNSHostNameAlias: web, ZoneName: zone})
	require.NoError(t, err)
	require.NotNil(t, again.JSON409, "%s", again.Body)
	read, err := c.CnameGetWithResponse(ctx,
		&standard.CnameGetParams{DNSHostName: cname, DNSHostNameAlias: web, ZoneName: zone})
	require.NoError(t, err)
	require.NotNil(t, read.JSON200, "%s", read.Body)
	assert.Equal(t, web, read.JSON200.Result[0].Data)
	list, err := c.CnameListZoneWithResponse(ctx, zone)
	require.NoError(t, err)
	require.NotNil(t, list.JSON200, "%s", list.Body)
	refused, err := c.CnameCreateWithResponse(ctx, nil,
		standard.CnameCreateJSONRequestBody{DNSHostName: "a b", DNSHostNameAlias: web, ZoneName: zone})
	require.NoError(t, err)
	require.NotNil(t, refused.JSON422, "%s", refused.Body)
	deleted, err := c.CnameDeleteWithResponse(ctx,
		&standard.CnameDeleteParams{DNSHostName: cname, DNSHostNameAlias: web, ZoneName: zone})
	require.NoError(t, err)
	require.NotNil(t, deleted.JSON200, "%s", deleted.Body)
	gone, err := c.CnameGetWithResponse(ctx,
		&standard.CnameGetParams{DNSHostName: cname, DNSHostNameAlias: web, ZoneName: zone})
	require.NoError(t, err)
	require.NotNil(t, gone.JSON404, "%s", gone.Body)
}

// TestClassic tests the classic dialect, in which a result with one record is an object.
func TestClassic(t *testing.T) {
	c, err := classic.NewClientWithResponses(setting(t, addressVariable),
		classic.WithRequestEditorFn(bearer(setting(t, classicVariable))))
	require.NoError(t, err)
	ctx := t.Context()

	created, err := c.UserCreateWithResponse(ctx, "oapi.classic", nil,
		classic.UserCreateJSONRequestBody{LastName: ptr("Meier"), Country: ptr("DE")})
	require.NoError(t, err)
	require.NotNil(t, created.JSON200, "%s", created.Body)
	read, err := c.UserGetWithResponse(ctx, "oapi.classic", nil)
	require.NoError(t, err)
	require.NotNil(t, read.JSON200, "%s", read.Body)
	assert.Equal(t, "Germany", *read.JSON200.Result.Country)
	assert.False(t, read.JSON200.Result.Enabled, "no password was given")
	updated, err := c.UserUpdateWithResponse(ctx, "oapi.classic", nil,
		classic.UserUpdateJSONRequestBody{LastName: ptr("")})
	require.NoError(t, err)
	require.NotNil(t, updated.JSON200, "%s", updated.Body)
	list, err := c.UserListAllWithResponse(ctx, nil)
	require.NoError(t, err)
	require.NotNil(t, list.JSON200, "%s", list.Body)
	assert.Greater(t, len(list.JSON200.Result), 1)
	refused, err := c.UserUpdateWithResponse(ctx, "oapi.classic", nil,
		classic.UserUpdateJSONRequestBody{HomeFolderDrive: ptr("HH")})
	require.NoError(t, err)
	require.NotNil(t, refused.JSON400, "%s", refused.Body)
	deleted, err := c.UserDeleteWithResponse(ctx, "oapi.classic", nil)
	require.NoError(t, err)
	require.NotNil(t, deleted.JSON200, "%s", deleted.Body)
	gone, err := c.UserGetWithResponse(ctx, "oapi.classic", nil)
	require.NoError(t, err)
	require.NotNil(t, gone.JSON404, "%s", gone.Body)
}
