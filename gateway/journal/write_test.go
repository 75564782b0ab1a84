package journal_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"adgateway/gateway/journal"
	"adgateway/gateway/journal/journaltest"
)

// sent is a message that a client published.
type sent struct {
	expect  uint64
	message string
	try     int
	at      time.Duration // after the first message
}

// recorder records published messages, and decides the fates of the first ones.
type recorder struct {
	all   []sent
	begun time.Time
}

func (r *recorder) watch(c *journaltest.Client, fates ...journaltest.Fate) {
	r.begun = time.Now()
	c.Fates(func(expect uint64, message []byte, try int) journaltest.Fate {
		r.all = append(r.all, sent{expect, string(message), try, time.Since(r.begun)})
		if n := len(r.all); n <= len(fates) {
			return fates[n-1]
		}
		return journaltest.Fate{}
	})
}

// TestABatchIsStoredOnceWhateverTheAnswer: the same message is sent with the same expectation until
// it is read, and stored exactly once.
func TestABatchIsStoredOnceWhateverTheAnswer(t *testing.T) {
	type fates = []journaltest.Fate
	for name, test := range map[string]struct {
		fates fates
		times []time.Duration // times at which it is sent
	}{
		"answered":            {fates{{}}, []time.Duration{0}},
		"the message is lost": {fates{{Lost: true}}, []time.Duration{0, 2 * time.Second}},
		"it is lost twice":    {fates{{Lost: true}, {Lost: true}}, []time.Duration{0, 2 * time.Second, 4 * time.Second}},
		"the answer is lost":  {fates{{Silent: true}}, []time.Duration{0, 2 * time.Second}},
		"it arrives late":     {fates{{Late: 3 * time.Second, Silent: true}, {Lost: true}}, []time.Duration{0, 2 * time.Second}},
		"it arrives after the next copy": {
			fates{{Late: 3 * time.Second, Silent: true}, {Silent: true}}, []time.Duration{0, 2 * time.Second},
		},
		"its own first copy is counted": { // so the second copy is refused
			fates{{Pending: 5 * time.Second, Silent: true}},
			[]time.Duration{0, 2 * time.Second, 4 * time.Second},
		},
		"the copy that was counted vanishes": {
			fates{{Pending: 3 * time.Second, Silent: true, Vanishes: true}},
			[]time.Duration{0, 2 * time.Second, 4 * time.Second},
		},
		"nobody is there": {
			fates{{Fails: true}, {Fails: true}},
			[]time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := journaltest.NewMemory()
				a, b := newGateway(m, "a"), newGateway(m, "b")
				a.lead(t)
				var r recorder
				r.watch(a.client, test.fates...)
				require.NoError(t, a.append(t.Context(), "1"))
				var times []time.Duration
				for i, s := range r.all {
					times = append(times, s.at.Round(100*time.Millisecond))
					assert.Equal(t, sent{1, r.all[0].message, i, s.at}, s)
				}
				for i, at := range test.times {
					test.times[i] = at.Round(100 * time.Millisecond)
				}
				assert.Equal(t, test.times, times)
				a.client.Fates(nil)
				time.Sleep(10 * time.Second) // late copies arrive
				require.NoError(t, a.append(t.Context(), "2"))
				require.NoError(t, b.CatchUp(t.Context()))
				assert.Equal(t, []string{"1", "2"}, a.Batches())
				assert.Equal(t, a.Entries(), b.Entries())
				assert.Len(t, m.Messages(), 3)
				status := a.Status()
				assert.EqualValues(t, len(r.all)-1, status.Again)
				assert.EqualValues(t, len(r.all)+2, status.Sent)
				assert.Zero(t, status.Undecided)
			})
		})
	}
}

// TestADeliveredEntryIsNotWaitedFor: delivery of an entry counts as an answer.
func TestADeliveredEntryIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a := newGateway(m, "a")
		a.lead(t)
		a.follow(t)
		synctest.Wait()
		a.client.Fates(func(uint64, []byte, int) journaltest.Fate {
			return journaltest.Fate{Late: 10 * time.Millisecond, Silent: true}
		})
		begun := time.Now()
		require.NoError(t, a.append(t.Context(), "1"))
		assert.Equal(t, 10*time.Millisecond, time.Since(begun))
	})
}

// strange returns messages that do not belong to a journal with entries.
func strange(m *journaltest.Memory) map[string][]byte {
	stored := m.Messages()
	last := stored[len(stored)-1]
	altered := slices.Clone(last)
	altered[len(altered)/2] ^= 1
	plain, err := journal.Opened(journaltest.Options(), last)
	if err != nil {
		panic(err) // the last message belongs to the journal
	}
	sealed := func(change func(*journal.Options)) []byte {
		o := journaltest.Options()
		change(&o)
		return journal.Sealed(o, plain)
	}
	newer := append([]byte{99}, plain...)
	return map[string][]byte{
		"nothing":             {},
		"anything":            []byte("anything"),
		"altered":             altered,
		"the last again":      last,
		"the last but one":    stored[max(0, len(stored)-2)],
		"the first again":     stored[0],
		"another key":         sealed(func(o *journal.Options) { o.Cipher = journaltest.Cipher("other") }),
		"another cluster":     sealed(func(o *journal.Options) { o.Cluster = "other" }),
		"another stream":      sealed(func(o *journal.Options) { o.Journal = "j2" }),
		"in clear":            plain,
		"in clear, newer":     newer,
		"newer, another key":  journal.Sealed(journal.Options{Cluster: "corp", Journal: "j1", Cipher: journaltest.Cipher("other")}, newer),
		"sealed, and nothing": journal.Sealed(journaltest.Options(), nil),
		"sealed, no head":     journal.Sealed(journaltest.Options(), []byte{1, 200}),
	}
}

// TestAStrangerStopsNobody: messages that do not verify are skipped and counted. They depose no leader and
// are not applied, even if such a message takes the sequence of a message that is being sent.
func TestAStrangerStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a, b := newGateway(m, "a"), newGateway(m, "b")
		a.lead(t)
		require.NoError(t, a.append(t.Context(), "0"))
		strangers := strange(m)
		for name, message := range strangers {
			m.Insert(message)
			var r recorder
			r.watch(a.client)
			require.NoError(t, a.append(t.Context(), name), name)
			require.Len(t, r.all, 2)
			assert.Equal(t, r.all[0].message, r.all[1].message, "it is the same message")
			assert.Equal(t, r.all[0].expect+1, r.all[1].expect)
		}
		for range 20 {
			for _, message := range strangers {
				m.Insert(message)
			}
		}
		require.NoError(t, a.append(t.Context(), "end"))
		require.NoError(t, b.CatchUp(t.Context()))
		assert.Len(t, a.Batches(), len(strangers)+2)
		assert.Equal(t, a.Entries(), b.Entries())
		assert.EqualValues(t, 21*len(strangers), a.Status().Strangers)
		assert.EqualValues(t, 21*len(strangers), b.Status().Strangers)
	})
}

// TestAHigherTermDeposes: a batch that meets a higher term is never stored, and later appends fail.
func TestAHigherTermDeposes(t *testing.T) {
	for name, fate := range map[string]journaltest.Fate{
		"refused": {}, "lost": {Lost: true}, "late": {Late: 5 * time.Second, Silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := journaltest.NewMemory()
				a, b := newGateway(m, "a"), newGateway(m, "b")
				a.lead(t)
				require.NoError(t, a.append(t.Context(), "1"))
				b.lead(t)
				require.NoError(t, b.append(t.Context(), "2"))
				a.client.Fates(func(uint64, []byte, int) journaltest.Fate { return fate })
				require.ErrorIs(t, a.append(t.Context(), "x"), journal.ErrDeposed)
				require.ErrorIs(t, a.append(t.Context(), "y"), journal.ErrDeposed)
				time.Sleep(10 * time.Second)
				require.NoError(t, b.append(t.Context(), "3"))
				require.NoError(t, a.CatchUp(t.Context()))
				assert.Equal(t, []string{"1", "2", "3"}, a.Batches())
				assert.Equal(t, a.Entries(), b.Entries())
				assert.Equal(t, b.process, a.Status().Process)
			})
		})
	}
}

// TestABatchOfADeposedWriterIsSkipped: a batch that arrives after a higher term without an
// expectation, as somebody else's copy would, is skipped.
func TestABatchOfADeposedWriterIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a, b := newGateway(m, "a"), newGateway(m, "b")
		a.lead(t)
		require.NoError(t, b.CatchUp(t.Context()))
		var r recorder
		r.watch(a.client, journaltest.Fate{Lost: true})
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, a.append(limited, "x"), journal.ErrUndecided)
		b.lead(t)
		m.Insert([]byte(r.all[0].message))
		require.NoError(t, b.append(t.Context(), "1"))
		require.NoError(t, a.CatchUp(t.Context()))
		require.ErrorIs(t, a.Resolve(t.Context()), journal.ErrDeposed)
		assert.Equal(t, []string{"1"}, a.Batches())
		assert.Equal(t, []string{"1"}, b.Batches())
	})
}

// TestAnUndecidedBatchIsNotForgotten: a batch may be stored although its caller gave up, so the
// same message is sent before another one.
func TestAnUndecidedBatchIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a := newGateway(m, "a")
		a.lead(t)
		require.NoError(t, a.Resolve(t.Context()))
		var r recorder
		r.watch(a.client, journaltest.Fate{Lost: true}, journaltest.Fate{Lost: true}, journaltest.Fate{Lost: true})
		brief := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return ctx
		}
		begun := time.Now()
		err := a.append(brief(), "1")
		require.ErrorIs(t, err, journal.ErrUndecided)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, begun, a.Status().Undecided)
		err = a.append(brief(), "2")
		require.ErrorIs(t, err, journal.ErrNotSent)
		require.NotErrorIs(t, err, journal.ErrUndecided)
		require.ErrorIs(t, a.Resolve(brief()), journal.ErrUndecided)
		_, err = a.Claim(brief(), a.process, time.Now())
		require.NoError(t, err)
		require.NoError(t, a.append(t.Context(), "3"))
		assert.Equal(t, []string{"1", "3"}, a.Batches())
		for _, s := range r.all[:4] {
			assert.Equal(t, r.all[0].message, s.message)
			assert.EqualValues(t, 1, s.expect)
		}
		assert.Len(t, r.all, 5)
		assert.Zero(t, a.Status().Undecided)
	})
}

// TestAppendsWaitForEachOther: only one entry at a time is being stored, and a waiting caller can
// leave.
func TestAppendsWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a := newGateway(m, "a")
		a.lead(t)
		a.client.Fates(func(uint64, []byte, int) journaltest.Fate {
			return journaltest.Fate{Pending: time.Second}
		})
		first := make(chan error)
		go func() { first <- a.append(t.Context(), "1") }()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		cancel(gone)
		err := a.append(ctx, "2")
		require.ErrorIs(t, err, gone)
		require.NotErrorIs(t, err, journal.ErrUndecided)
		require.ErrorIs(t, a.Resolve(ctx), journal.ErrUndecided)
		require.NoError(t, a.append(t.Context(), "3"))
		require.NoError(t, <-first)
		assert.Equal(t, []string{"1", "3"}, a.Batches())
	})
}

// TestOneOfTwoGetsTheTerm: of two processes that claim a term, the later one follows, and neither
// leads the other's term.
func TestOneOfTwoGetsTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		gateways := []*gateway{newGateway(m, "a"), newGateway(m, "b"), newGateway(m, "c")}
		errs := make([]error, len(gateways))
		done := make(chan int)
		for i, g := range gateways {
			require.NoError(t, g.CatchUp(t.Context()))
			g.client.Fates(func(uint64, []byte, int) journaltest.Fate {
				return journaltest.Fate{Late: time.Second}
			})
			go func() {
				_, errs[i] = g.Claim(t.Context(), g.process, time.Now())
				done <- i
			}()
		}
		for range gateways {
			<-done
		}
		leads := 0
		for i, g := range gateways {
			if g.Status().Leads {
				leads++
				assert.NoError(t, errs[i])
				continue
			}
			assert.ErrorIs(t, errs[i], journal.ErrDeposed)
			assert.ErrorIs(t, g.append(t.Context(), "x"), journal.ErrDeposed)
		}
		assert.Equal(t, 1, leads)
	})
}

// TestAClaimNeedsAllThatWasWritten: a process that finds a new message while it claims a term
// learns that another one leads.
func TestAClaimNeedsAllThatWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a, b := newGateway(m, "a"), newGateway(m, "b")
		a.lead(t)
		require.NoError(t, b.CatchUp(t.Context()))
		require.NoError(t, a.append(t.Context(), "1"))
		_, err := b.Claim(t.Context(), b.process, time.Now())
		require.ErrorIs(t, err, journal.ErrDeposed)
		assert.Len(t, m.Messages(), 2)

		term, err := b.Claim(t.Context(), b.process, time.Now())
		require.NoError(t, err)
		assert.EqualValues(t, 2, term)
		term, err = b.Claim(t.Context(), b.process, time.Now())
		require.NoError(t, err, "it leads already")
		assert.EqualValues(t, 2, term)
		assert.Len(t, m.Messages(), 3)

		require.NoError(t, a.CatchUp(t.Context()))
		term, err = a.Claim(t.Context(), a.process, time.Now())
		require.NoError(t, err, "a term ends, and the process may get another one")
		assert.EqualValues(t, 3, term)
	})
}

// TestAClaimThatWasGivenUpMayBeStored: a claim may be stored although its caller gave up, unless
// another claim came first.
func TestAClaimThatWasGivenUpMayBeStored(t *testing.T) {
	for name, test := range map[string]struct {
		late time.Duration
		ends bool
	}{"it arrives": {3 * time.Second, true}, "the leader writes first": {time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := journaltest.NewMemory()
				a, b := newGateway(m, "a"), newGateway(m, "b")
				a.lead(t)
				b.follow(t)
				synctest.Wait()
				b.client.Fates(func(uint64, []byte, int) journaltest.Fate {
					return journaltest.Fate{Late: test.late, Silent: true}
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := b.Claim(ctx, b.process, time.Now())
				require.ErrorIs(t, err, journal.ErrUndecided)
				time.Sleep(10 * time.Second)
				assert.Equal(t, test.ends, b.Status().Leads)
				err = a.append(t.Context(), "1")
				if test.ends {
					require.ErrorIs(t, err, journal.ErrDeposed)
					require.NoError(t, b.Resolve(t.Context()))
					return
				}
				require.NoError(t, err)
				synctest.Wait()
				require.ErrorIs(t, b.Resolve(t.Context()), journal.ErrDeposed)
				time.Sleep(2 * time.Minute)
				require.NoError(t, a.append(t.Context(), "2"))
				synctest.Wait()
				assert.Equal(t, []string{"1", "2"}, b.Batches())
			})
		})
	}
}

// keyless is a cipher that reports every key as unknown.
type keyless struct{ journal.Cipher }

func (k keyless) Open(sealed, bound []byte) ([]byte, error) {
	if strings.HasPrefix(string(sealed), "key 2") {
		return nil, journal.ErrKeyUnknown
	}
	return k.Cipher.Open(sealed, bound)
}

// TestAGatewayWithoutTheKeyDoesNotClaim: a gateway may have missed messages of a leader, so it
// claims no term until it can read a message of the leader again.
func TestAGatewayWithoutTheKeyDoesNotClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a := newGateway(m, "a")
		record, o := journaltest.NewRecord(pointZero), journaltest.Options()
		o.Cipher = keyless{o.Cipher}
		b := journal.New(m.Client(), record, o)
		a.lead(t)
		m.Insert([]byte("key 2, sealed"))
		require.NoError(t, b.CatchUp(t.Context()))
		_, err := b.Claim(t.Context(), journal.Process{Gateway: "b"}, time.Now())
		require.ErrorIs(t, err, journal.ErrKeyUnknown)
		require.NoError(t, a.append(t.Context(), "1"))
		require.NoError(t, b.CatchUp(t.Context()))
		_, err = b.Claim(t.Context(), journal.Process{Gateway: "b"}, time.Now())
		require.NoError(t, err)
	})
}

// TestALargeBatchIsSentInParts: a large batch is stored in parts, even if other messages arrive
// between them.
func TestALargeBatchIsSentInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a, b := newGateway(m, "a"), newGateway(m, "b")
		a.lead(t)
		large := strings.Repeat("0123456789abcdef", 1<<20/4) // 4 MiB
		a.client.Fates(func(_ uint64, message []byte, try int) journaltest.Fate {
			assert.LessOrEqual(t, len(message), journaltest.Options().MaxMessage)
			if try == 0 {
				m.Insert([]byte("anything"))
				m.Insert(message)
				m.Insert(message)
				return journaltest.Fate{}
			}
			return journaltest.Fate{Silent: true}
		})
		require.NoError(t, a.append(t.Context(), large))
		a.client.Fates(nil)
		require.NoError(t, a.append(t.Context(), "1"))
		require.NoError(t, b.CatchUp(t.Context()))
		assert.True(t, slices.Equal([]string{large, "1"}, b.Batches()))
		assert.Equal(t, a.Status().Point, b.Status().Point)
		assert.Greater(t, len(m.Messages()), 5+5*2)
	})
}

// TestAPartOfABatchIsVoidAfterTheNextTerm: a new term voids an incomplete batch, and its remaining
// parts are skipped.
func TestAPartOfABatchIsVoidAfterTheNextTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a, b, c := newGateway(m, "a"), newGateway(m, "b"), newGateway(m, "c")
		a.lead(t)
		var r recorder
		r.watch(a.client, journaltest.Fate{}, journaltest.Fate{}, journaltest.Fate{Lost: true})
		limited, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, a.append(limited, strings.Repeat("x", 3<<20)), journal.ErrUndecided)
		require.Len(t, r.all, 3)
		b.lead(t)
		m.Insert([]byte(r.all[2].message))
		require.ErrorIs(t, a.Resolve(t.Context()), journal.ErrDeposed)
		require.NoError(t, b.append(t.Context(), strings.Repeat("y", 2<<20)))
		for _, g := range []*gateway{a, b, c} {
			require.NoError(t, g.CatchUp(t.Context()))
			assert.True(t, slices.Equal([]string{strings.Repeat("y", 2<<20)}, g.Batches()))
			assert.Equal(t, b.Status().Point, g.Status().Point)
		}
	})
}

// TestTheTimeOfTheLogNeverGoesBack: log time never goes back, no matter which time a leader gives.
func TestTheTimeOfTheLogNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a := newGateway(m, "a")
		a.lead(t)
		now := time.Now()
		for _, at := range []time.Time{now.Add(time.Hour), now, now.Add(2 * time.Hour)} {
			_, err := a.Append(t.Context(), nil, at)
			require.NoError(t, err)
		}
		var times []time.Duration
		for _, e := range a.Entries()[1:] {
			times = append(times, e.Time.Sub(now))
		}
		assert.Equal(t, []time.Duration{time.Hour, time.Hour, 2 * time.Hour}, times)
		assert.True(t, a.Status().Time.Equal(now.Add(2*time.Hour)))
	})
}

// TestAnEntryThatCannotBeAppliedIsUndecided: the entry is stored, and applied as soon as that
// succeeds.
func TestAnEntryThatCannotBeAppliedIsUndecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a := newGateway(m, "a")
		a.lead(t)
		full := errors.New("disk full")
		a.Fail(full)
		err := a.append(t.Context(), "1")
		require.ErrorIs(t, err, full)
		require.ErrorIs(t, err, journal.ErrUndecided)
		require.ErrorIs(t, a.append(t.Context(), "2"), journal.ErrNotSent)
		a.Fail(nil)
		require.NoError(t, a.append(t.Context(), "3"))
		assert.Equal(t, []string{"1", "3"}, a.Batches())
		assert.Len(t, m.Messages(), 3)
	})
}

// TestATermBelongsToItsProcess: a process does not lead another process's term, even if that term begins
// before the last batch of the deposed process is answered.
func TestATermBelongsToItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := journaltest.NewMemory()
		a, b := newGateway(m, "a"), newGateway(m, "b")
		a.lead(t)
		require.NoError(t, b.CatchUp(t.Context()))
		var late error
		a.client.Fates(func(expect uint64, message []byte, _ int) journaltest.Fate {
			m.Insert(message)
			b.lead(t)
			late = a.CatchUp(t.Context())
			return journaltest.Fate{Lost: true}
		})
		require.NoError(t, a.append(t.Context(), "1"), "it is stored")
		require.NoError(t, late)
		assert.False(t, a.Status().Leads)
		require.ErrorIs(t, a.append(t.Context(), "2"), journal.ErrDeposed)
		assert.Equal(t, []string{"1"}, b.Batches())
	})
}

// TestAMessageIsBoundToItsStream: the beginning of a term in another stream has no effect in this
// one.
func TestAMessageIsBoundToItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func(*journal.Options){
			"cluster": func(o *journal.Options) { o.Cluster = "other" },
			"stream":  func(o *journal.Options) { o.Journal = "j2" },
			"key":     func(o *journal.Options) { o.Cipher = journaltest.Cipher("other") },
			"none":    func(*journal.Options) {},
		} {
			there, o := journaltest.NewMemory(), journaltest.Options()
			change(&o)
			other := journal.New(there.Client(), journaltest.NewRecord(pointZero), o)
			require.NoError(t, other.CatchUp(t.Context()))
			_, err := other.Claim(t.Context(), journal.Process{Gateway: "x"}, time.Now())
			require.NoError(t, err)
			m := journaltest.NewMemory()
			m.Insert(there.Messages()[0])
			a := newGateway(m, "a")
			require.NoError(t, a.CatchUp(t.Context()))
			assert.Equal(t, name == "none", a.Status().Term == 1, name)
			assert.Equal(t, name != "none", a.Status().Strangers == 1, name)
		}
	})
}
