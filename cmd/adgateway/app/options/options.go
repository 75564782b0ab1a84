// Package options derives the options of the parts of a gateway from its settings. A default is declared
// once, with its setting in package config. No part has a default of its own, and tests use this package,
// too. Options that are not settings, such as a runner, come from the caller.
package options

import (
	"adgateway/gateway"
	"adgateway/gateway/authn/signin"
	"adgateway/gateway/call"
	"adgateway/gateway/config"
	"adgateway/gateway/identity"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/rows"
	"adgateway/gateway/ops"
	"adgateway/gateway/privileged"
	"adgateway/ps"
)

// Gateway returns the options of a server, including its policy.
func Gateway(s *config.Settings) gateway.Options {
	return gateway.Options{
		Operations: ops.Extended(s.Account.Attributes, s.Time.Location()),
		Policy:     Policy(s), MaxWait: s.Pool.MaxWait,
		HTTP: gateway.HTTP{Web: web(s), Streams: s.Events.Streams},
		Storage: gateway.Storage{
			KeyLife: s.Idempotency.Keep, NameHold: s.Names.Hold,
			Bounds: gateway.Bounds{
				Plans: mebibytes(s.Plans.MaxSize), Keys: mebibytes(s.Idempotency.MaxSize),
			},
		},
		Work: gateway.Work{
			Lists: rows.Limits{
				MaxItems: s.Jobs.MaxItems, MaxBytes: mebibytes(s.Jobs.MaxBytes),
				Secrets: s.Jobs.Secrets == config.SecretsSealed,
			},
			Jobs:     jobLimits(s.Jobs),
			Sessions: map[ps.Lane]int{ps.Directory: s.Pool.DirectorySessions, ps.DNS: s.Pool.DNSSessions},
		},
	}
}

// Policy returns the policy of a server, which may change while the server runs.
func Policy(s *config.Settings) gateway.Policy {
	h := s.HTTP
	return gateway.Policy{
		Policy: call.Policy{
			RequireGuard: scopes(h.RequireGuard), RequireKey: scopes(h.RequireKey), RequireReason: s.Reason.Required,
			ReadLimit: h.ReadTimeout, ListLimit: h.ListTimeout, WriteLimit: h.WriteTimeout,
			SettleLimit: h.SettleTimeout, SettlePause: h.SettlePause,
			BulkLimit: s.Limits.BulkDelete, StaleDays: s.Limits.StaleDays, Guarded: guarded(s.Limits),
			PlanLife: s.Plans.Life, PlansOfOthers: s.Plans.OtherCaller,
			Protocols: protocols(s),
		},
		WebPolicy: gateway.WebPolicy{
			Dialect: identity.Dialect(h.Dialect), AllowSecretsInQuery: h.AllowSecretsInQuery,
			Origins: h.AllowedOrigins, TrustedProxies: h.TrustedProxies, Grace: h.ShutdownTimeout,
		},
	}
}

// guarded returns the objects that the settings guard.
func guarded(l config.Limits) privileged.Set {
	named := privileged.Names(l.GuardedNames...)
	return privileged.Set{privileged.Own: l.GuardedGroups, privileged.Named: named}.With()
}

// Quota returns the quota of credentials without one of their own.
func Quota(c config.Auth) identity.Quota {
	return identity.Quota{
		Rate: identity.Rate(c.Rate), Concurrency: c.Concurrency,
		DeletionsPerHour: c.DeletionsPerHour, PasswordResetsPerHour: c.PasswordResetsPerHour,
		ChangesPerHour: c.ChangesPerHour, RevealsPerHour: &c.RevealsPerHour,
	}
}

// RoleQuota returns the quota of each member of a role.
func RoleQuota(q config.Quota) *identity.Quota {
	return &identity.Quota{
		Rate: identity.Rate(q.Rate), Concurrency: q.Concurrency,
		DeletionsPerHour: q.DeletionsPerHour, PasswordResetsPerHour: q.PasswordResetsPerHour,
		ChangesPerHour: q.ChangesPerHour, RevealsPerHour: q.RevealsPerHour,
	}
}

// SignIn returns the options for signing in to the pages.
func SignIn(c config.SignIn) signin.Options {
	return signin.Options{Idle: c.Idle, Max: c.Max, Recheck: c.Recheck, Tries: c.Tries}
}

func mebibytes(n int) int64 { return int64(n) << 20 }

func scopes(names []string) []identity.Scope {
	all := make([]identity.Scope, len(names))
	for i, name := range names {
		all[i] = identity.Scope(name)
	}
	return all
}

func protocols(s *config.Settings) ops.ProtocolSettings {
	p := ops.ProtocolSettings{ChallengeTTL: s.ACME.TTL, ChallengeZones: s.ACME.Zones, Budget: s.External.Budget}
	for _, account := range s.ACME.Accounts {
		p.Accounts = append(p.Accounts, ops.AcmeAccount(account))
	}
	return p
}

func jobLimits(c config.Jobs) jobs.Limits {
	return jobs.Limits{
		Running: c.Running, PerCaller: c.PerCaller, Share: float64(c.Share) / 100, Rate: c.Rate,
		Keep: c.Keep, MaxStored: mebibytes(c.MaxStored),
	}
}

// web returns the options for what the server shows over HTTP and for the size of requests that it accepts.
func web(s *config.Settings) gateway.Web {
	return gateway.Web{
		HideDocs: !s.Docs.Enabled, OpenMetrics: s.Metrics.OpenOnLoopback,
		Bodies:      gateway.Bodies{Memory: mebibytes(s.HTTP.MaxBodyMemory)},
		Spool:       gateway.Spool{Folder: s.HTTP.SpoolFolder, Most: mebibytes(s.HTTP.MaxSpool)},
		Connections: connections(s.HTTP),
	}
}

func connections(h config.HTTP) gateway.Connections {
	return gateway.Connections{
		HeaderTimeout: h.HeaderTimeout, BodyTimeout: h.BodyTimeout, SendTimeout: h.SendTimeout,
		IdleTimeout: h.IdleTimeout,
		Total:       h.MaxConnections, PerAddress: h.MaxConnectionsPerAddress,
	}
}
