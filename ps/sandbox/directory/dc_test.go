package directory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/ps/packed"
)

// Facts G5, D.2
func TestFindDC(t *testing.T) {
	dc1, _ := lab(t)
	d := dc1.domain
	for _, name := range []string{"", "dc1", "DC1", "dc1.corp.example", "DC1.CORP.EXAMPLE.",
		"dc1.corp.example:9389", "corp.example", "CORP", "corp.example:3268"} {
		c, err := d.DC(name)
		require.NoError(t, err, name)
		assert.Equal(t, "dc1", c.Name(), name)
	}
	c, err := d.DC("dc2")
	require.NoError(t, err)
	assert.Equal(t, "dc2.corp.example", c.HostName())
	assert.Same(t, d, c.Domain())
	assert.Equal(t, "Default-First-Site-Name", c.Site())
	_, err = d.DC("dc9.corp.example")
	requireCode(t, CodeUnspecified, KindServerDown, err)
	assert.Len(t, d.DCs(), 2)

	dc1.SetAlive(false)
	_, err = d.DC("dc1")
	requireCode(t, CodeUnspecified, KindServerDown, err)
	c, err = d.DC("corp.example")
	require.NoError(t, err)
	assert.Equal(t, "dc2", c.Name())
	c.SetAlive(false)
	_, err = d.DC("")
	requireCode(t, CodeDirectoryNotFound, KindServerDown, err)
	dc1.SetAlive(true)
	dc1.SetWritable(false)
	c, err = d.DC("")
	require.NoError(t, err)
	assert.Same(t, dc1, c, "a read-only one is better than none")
	c2, _ := d.DC("dc2")
	assert.Nil(t, c2)
	d.dcs[1].SetAlive(true)
	c, err = d.DC("")
	require.NoError(t, err)
	assert.Equal(t, "dc2", c.Name(), "writable ones first")
}

// Facts G6: calls on a DC that is off fail, and so do writes to a read-only one.
func TestOffAndReadOnly(t *testing.T) {
	dc, _ := lab(t)
	paula := "CN=Photo Paula," + odd
	writes := map[string]func() error{
		"add": func() error {
			_, err := dc.Add(bg, "CN=x,"+odd, user("x")...)
			return err
		},
		"modify":  func() error { return dc.Modify(bg, paula, nil, ModifyOptions{}) },
		"rename":  func() error { return dc.Rename(bg, paula, "x") },
		"move":    func() error { return dc.Move(bg, paula, empty) },
		"delete":  func() error { return dc.Delete(bg, paula) },
		"tree":    func() error { return dc.DeleteTree(bg, paula) },
		"reset":   func() error { return dc.ResetPassword(bg, paula, good) },
		"change":  func() error { return dc.ChangePassword(bg, paula, good, good) },
		"protect": func() error { return dc.SetProtected(bg, paula, true) },
		"unlock":  func() error { return dc.Unlock(bg, paula) },
		"acl":     func() error { return dc.SetACL(bg, paula, nil) },
		"logon":   func() error { return dc.Logon(bg, "paula", good) },
	}
	reads := map[string]func() error{
		"search": func() error {
			_, err := dc.Search(bg, SearchRequest{})
			return err
		},
		"get": func() error {
			_, err := dc.Get(bg, paula)
			return err
		},
		"sam": func() error {
			_, err := dc.BySAM(bg, "paula")
			return err
		},
		"protected": func() error {
			_, err := dc.Protected(bg, paula)
			return err
		},
		"snapshot": func() error {
			_, err := dc.Snapshot()
			return err
		},
		"connect": func() error {
			_, err := dc.Connect("x")
			return err
		},
	}
	unchanged(t, dc, func() {
		dc.SetWritable(false)
		for name, f := range writes {
			e := requireCode(t, CodeNotOnReadOnlyDC, KindReferral, f())
			assert.NotEmpty(t, e.Op, name)
		}
		for name, f := range reads {
			require.NoError(t, f(), name)
		}
		dc.SetAlive(false)
		for _, f := range writes {
			requireCode(t, CodeUnspecified, KindServerDown, f())
		}
		for _, f := range reads {
			requireCode(t, CodeUnspecified, KindServerDown, f())
		}
		dc.SetAlive(true)
		dc.SetWritable(true)
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	unchanged(t, dc, func() {
		_, err := dc.Add(ctx, "CN=x,"+odd, user("x")...)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, dc.Delete(ctx, paula), context.Canceled)
		_, err = dc.Search(ctx, SearchRequest{})
		require.ErrorIs(t, err, context.Canceled)
	})
}

// ADWS allows an account five connections to a DC.
func TestConnections(t *testing.T) {
	dc, _ := lab(t)
	dc2, err := dc.domain.DC("dc2")
	require.NoError(t, err)
	var release []func()
	for i := 0; i < 5; i++ {
		r, err := dc.Connect("CORP\\svc")
		require.NoError(t, err)
		release = append(release, r)
	}
	_, err = dc.Connect("corp\\SVC")
	requireCode(t, CodeUnspecified, KindBusy, err)
	r2, err := dc2.Connect("CORP\\svc")
	require.NoError(t, err, "counted per DC")
	r2()
	_, err = dc.Connect("CORP\\other")
	require.NoError(t, err, "counted per account")
	release[0]()
	release[0]()
	assert.Equal(t, 4, dc.Connections("CORP\\svc"), "releasing twice has no effect")
	_, err = dc.Connect("CORP\\svc")
	require.NoError(t, err)
	_, err = dc.Connect("CORP\\svc")
	requireCode(t, CodeUnspecified, KindBusy, err)
}

// Facts C15, C16, C19
func TestSearch(t *testing.T) {
	dc, _ := lab(t)
	count := func(req SearchRequest) int {
		objs, err := dc.Search(bg, req)
		require.NoError(t, err)
		return len(objs)
	}
	staff := "OU=Staff," + corp
	all := count(SearchRequest{Base: staff})
	assert.Equal(t, 1, count(SearchRequest{Base: staff, Scope: ScopeBase}))
	assert.Equal(t, 6, count(SearchRequest{Base: staff, Scope: ScopeOneLevel}))
	assert.Equal(t, 0, count(SearchRequest{Base: staff, Scope: ScopeOneLevel, Filter: "(objectClass=user)"}))
	assert.Equal(t, 1, count(SearchRequest{Base: staff, Scope: ScopeOneLevel, Filter: "(ou=berlin)"}))
	assert.Equal(t, 0, count(SearchRequest{Base: staff, Scope: ScopeBase, Filter: "(ou=berlin)"}))
	assert.Greater(t, all, 200)
	assert.Equal(t, 7, count(SearchRequest{Base: staff, Limit: 7}))
	assert.Equal(t, count(SearchRequest{}), count(SearchRequest{Base: dc.domain.GUID().Ref()}))
	assert.Equal(t, 0, count(SearchRequest{Filter: "(sAMAccountName=nobody)"}),
		"facts C19: no result is not an error")

	_, err := dc.Search(bg, SearchRequest{Base: "OU=x," + corp})
	requireCode(t, CodeNotFound, KindNotFound, err)
	_, err = dc.Search(bg, SearchRequest{Filter: "(("})
	requireCode(t, CodeFilterUnknown, KindSyntax, err)
	_, err = dc.Search(bg, SearchRequest{Base: "x"})
	requireCode(t, CodeInvalidDN, KindSyntax, err)

	g := mustObject(t, dc, "CN=Photo Paula,"+odd).GUID
	assert.Equal(t, 1, count(SearchRequest{Filter: "(objectGUID=" + EscapeFilterBytes(g[:]) + ")"}),
		"objectGUID by its octets")
	assert.Equal(t, 0, count(SearchRequest{Filter: "(objectGUID=" + g.String() + ")"}))

	// all stored attributes are returned, or some by name; computed attributes only by name
	o := mustObject(t, dc, "CN=Photo Paula,"+odd)
	assert.True(t, o.Has("thumbnailPhoto") && o.Has("whenCreated") && !o.Has("canonicalName"))
	o = mustObject(t, dc, "CN=Photo Paula,"+odd, "THUMBNAILPHOTO", "canonicalName", "noSuchAttribute", "title",
		"unicodePwd")
	assert.Equal(t, []string{"canonicalName", "thumbnailPhoto"}, o.Names())
	assert.Len(t, o.Bytes("thumbnailPhoto"), 200)
	o = mustObject(t, dc, "CN=Photo Paula,"+odd, "*", "canonicalName")
	assert.True(t, o.Has("thumbnailPhoto") && o.Has("canonicalName"))

	// tokenGroups is computed in searches of one object only
	objs, err := dc.Search(bg, SearchRequest{Filter: "(sAMAccountName=paula)",
		Attributes: []string{"tokenGroups"}})
	require.NoError(t, err)
	assert.Empty(t, objs[0].Strings("tokenGroups"))

	// results are in the order of creation, parents first
	objs, err = dc.Search(bg, SearchRequest{Attributes: []string{"name"}})
	require.NoError(t, err)
	seen := map[string]bool{"": true}
	for _, o := range objs {
		d, err := ParseDN(o.DN)
		require.NoError(t, err)
		require.True(t, o.DN == root || seen[d.Parent().String()], o.DN)
		seen[o.DN] = true
	}

	stop := errors.New("stop")
	n := 0
	err = dc.SearchEach(bg, SearchRequest{}, func(*Object) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	})
	require.ErrorIs(t, err, stop)
	assert.Equal(t, 3, n)
}

// Objects that are deleted during a search are skipped, and the search's callback may write.
func TestSearchWhileWriting(t *testing.T) {
	d, err := New("corp.example", Options{Seed: 4})
	require.NoError(t, err)
	require.NoError(t, d.Generate(1000, 4))
	dc, err := d.DC("")
	require.NoError(t, err)
	n := 0
	err = dc.SearchEach(bg, SearchRequest{Filter: "(employeeID=*)", Attributes: []string{"name"}},
		func(o *Object) error {
			if n++; n == 1 {
				return dc.DeleteTree(bg, "OU=Team 0004,OU=Generated,"+root)
			}
			return nil
		})
	require.NoError(t, err)
	assert.Equal(t, 750, n)
	ctx, cancel := context.WithCancel(bg)
	err = dc.SearchEach(ctx, SearchRequest{Attributes: []string{"name"}}, func(o *Object) error {
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
}

// Concurrent readers and writers; run it with -race.
func TestConcurrency(t *testing.T) {
	for _, lag := range []time.Duration{0, time.Millisecond} {
		d, err := BuiltIn(Options{Seed: 1, ReplicationLag: lag})
		require.NoError(t, err)
		var wg sync.WaitGroup
		for w := 0; w < 4; w++ {
			wg.Add(2)
			go func() {
				defer wg.Done()
				dc := d.dcs[w%2]
				for i := 0; i < 60; i++ {
					name := fmt.Sprintf("w%d-%d", w, i)
					o, err := dc.Add(bg, "CN="+name+","+empty, user(name)...)
					if !assert.NoError(t, err) {
						return
					}
					assert.NoError(t, addMember(dc, "CN=Empty Group,"+sec, o.DN))
					assert.NoError(t, dc.Rename(bg, o.GUID.Ref(), name+"x"))
					if i%3 == 0 {
						assert.NoError(t, dc.Delete(bg, o.GUID.Ref()))
					}
				}
			}()
			go func() {
				defer wg.Done()
				dc := d.dcs[(w+1)%2]
				for i := 0; i < 60; i++ {
					objs, err := dc.Search(bg,
						SearchRequest{Base: empty, Filter: "(&(objectClass=user)(sAMAccountName=w*))"})
					assert.NoError(t, err)
					for _, o := range objs {
						if !strings.HasPrefix(o.String("sAMAccountName"), "w") {
							t.Errorf("half an object: %s", o.DN)
						}
					}
					_, err = dc.BySAM(bg, "paula", "memberOf")
					assert.NoError(t, err)
				}
			}()
		}
		wg.Wait()
		requireConverged(t, d)
	}
}

func TestErrors(t *testing.T) {
	dc, _ := lab(t)
	_, err := dc.Get(bg, "CN=x,OU=y,"+odd)
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, odd, e.BestMatch)
	// facts D2: the controller's message begins with the code
	assert.Contains(t, e.ServerMessage(), "00002030: NameErr: DSID-")
	assert.Contains(t, e.ServerMessage(), "problem 2001 (NO_OBJECT)")
	assert.Contains(t, e.ServerMessage(), odd)
	assert.True(t, errors.Is(err, &Error{Code: CodeNoSuchObject}))
	assert.True(t, errors.Is(err, &Error{Code: CodeNoSuchObject, Kind: KindNotFound}))
	assert.False(t, errors.Is(err, &Error{Code: CodeNoSuchObject, Kind: KindDenied}))
	assert.False(t, errors.Is(err, &Error{Code: CodeNotFound}))
	assert.False(t, errors.Is(e, context.Canceled))
	assert.True(t, IsNotFound(err))
	assert.False(t, IsNotFound(context.Canceled))
	_, ok := CodeOf(context.Canceled)
	assert.False(t, ok)
	// facts D3, H24: the message depends on the culture, the controller's does not
	assert.Equal(t, "Zugriff verweigert", Message(CodeAccessDenied, "de-DE"))
	assert.Equal(t, "Access is denied", Message(CodeAccessDenied, "en-US"))
	assert.Equal(t, Message(CodeAccessDenied, "en-US"), Message(CodeAccessDenied, "fr-FR"))
	assert.Equal(t, Message(CodeUnspecified, "de"), Message(4711, "de"))
	for line, cells := range slices.Collect(packed.Rows(codeText)) {
		require.Len(t, cells, 4, "row %d", line)
		assert.Regexp(t, `^\d+$`, cells[0])
		assert.Regexp(t, `^(-|[A-Z][a-z]+Err \d{4} [A-Z_]+)$`, cells[1], cells[0])
		assert.NotEmpty(t, cells[2], cells[0])
		assert.NotEmpty(t, cells[3], cells[0])
		assert.NotEqual(t, cells[2], cells[3], cells[0])
	}
	err = dc.Modify(bg, "CN=Photo Paula,"+odd, []Change{{OpReplace, "title", []any{strings.Repeat("x", 200)}}},
		ModifyOptions{})
	require.ErrorAs(t, err, &e)
	assert.Contains(t, e.ServerMessage(), "AtrErr")
	assert.Contains(t, e.ServerMessage(), "Att 0 (title)")
	assert.Contains(t, e.Error(), "title")
	assert.Empty(t, (&Error{Code: CodeUnspecified}).ServerMessage())
}
