package doctor

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"adgateway/ps"
	"adgateway/winsvc/host"
)

// ticketChecks returns the checks of sign-in with Kerberos tickets. The clocks, on which every sign-in
// depends, have a check in another table.
func ticketChecks() []Check {
	return []Check{
		{
			Name: "keytab", Page: "single-sign-on#without-the-keys-of-windows",
			About: "the keys that tickets are checked with can be read",
			How:   "reads signIn.keytab",
			Faults: []Fault{
				{"unusable", Failure, "signIn.keytab cannot be used: {error}",
					"Make it with 'ktpass /princ HTTP/NAME@REALM /mapuser ACCOUNT /crypto AES256-SHA1 /ptype KRB5_NT_PRINCIPAL /pass * /out FILE', and let the service's account read it."},
			},
			probe: probeKeytab,
		},
		{
			Name: "service-names", Page: "single-sign-on#set-up",
			About: "browsers get tickets for the names of the gateway",
			How:   "looks for the accounts with the SPN HTTP/NAME for each DNS name of the certificate",
			Needs: []string{"adws"}, Limit: time.Minute,
			Faults: []Fault{
				{"no-name", Warning, "The certificate has no DNS name: browsers send NTLM then, which is refused.",
					"Use a certificate with the full name by which people open the gateway."},
				{"missing", Failure, "No account has the SPN {spn}: browsers send NTLM then, which is refused.",
					"As a domain administrator run 'setspn -S {spn} {account}'."},
				{"double", Failure, "{count} accounts have the SPN {spn}: {accounts}. The domain issues no tickets for it.",
					"Take it from the wrong one: 'setspn -D {spn} ACCOUNT'; 'setspn -X' lists all that are double."},
				{"another", Failure, "The SPN {spn} is on {accounts}, but the service runs as {account}, which does not have its key.",
					"Run 'setspn -D {spn} {accounts}', then 'setspn -S {spn} {account}'."},
			},
			probe: probeServiceNames,
		},
		{
			Name: "browsers", Page: "single-sign-on#group-policy-for-browsers",
			About: "browsers send tickets to the names of the gateway without a question",
			How:   "reads the policies of this computer for Edge, Chrome and Firefox, and its intranet zone",
			Faults: []Fault{
				{"no-policy", Warning, "No policy of this computer lets browsers send tickets to {names}: they ask for a name and a password instead.",
					"Set AuthServerAllowlist, or the intranet zone, by group policy for the computers of people. If this computer is a server without it, open the console on one of theirs."},
			},
			probe: probeBrowsers,
		},
	}
}

const noTickets = "nobody signs in with a ticket (signIn.mode)"

func probeKeytab(_ context.Context, x *exam) verdict {
	switch {
	case !x.settings.SignIn.Tickets():
		return skipped("%s", noTickets)
	case x.settings.SignIn.Keytab == "":
		return skipped("Windows checks the tickets")
	}
	names, err := x.Keytab(x.settings.SignIn.Keytab)
	v := verdict{found: strings.Join(names, ", ")}
	if err != nil {
		v.hit("unusable", "error", oneLine(err))
	}
	return v
}

// serviceName is an account that has the SPN.
type serviceName struct{ Name, Account, SID string }

func probeServiceNames(ctx context.Context, x *exam) verdict {
	if !x.settings.SignIn.Tickets() {
		return skipped("%s", noTickets)
	}
	certificate, err := x.Certificate(x.settings)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return failed(err)
	}
	var v verdict
	names := certificate.hosts()
	if len(names) == 0 {
		v.hit("no-name")
		return v
	}
	var asked []string
	for _, name := range names {
		asked = append(asked, "HTTP/"+name, "HOST/"+name)
	}
	args := ps.Args{"Name": ps.List(asked), "Server": ps.Text(x.controllers[0])}
	request := ps.Request{Script: "Get-GatewayServiceName", Lane: ps.Directory, Args: args}
	found, err := records[serviceName](ctx, x, request)
	if err != nil {
		return failed(err)
	}
	for _, name := range names {
		v.judge(x, name, found)
	}
	v.found = strings.Join(names, ", ")
	return v
}

// hosts returns the names that browsers get tickets for.
func (c Certificate) hosts() []string {
	return slices.DeleteFunc(slices.Clone(c.Names), func(name string) bool {
		_, err := netip.ParseAddr(name)
		return err == nil || strings.Contains(name, "*") || name == "localhost"
	})
}

func probeBrowsers(_ context.Context, x *exam) verdict {
	if !x.settings.SignIn.Tickets() {
		return skipped("%s", noTickets)
	}
	policies, err := x.Browsers()
	if errors.Is(err, errors.ErrUnsupported) {
		return skipped("this system has no such policies")
	}
	if err != nil {
		return failed(err)
	}
	certificate, err := x.Certificate(x.settings)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return failed(err)
	}
	names := certificate.hosts()
	if len(names) == 0 {
		return skipped("the certificate has no name that browsers get tickets for")
	}
	var v verdict
	var by, without []string
	for _, name := range names {
		allowed := false
		for _, policy := range policies {
			if policy.Allows(name) {
				allowed = true
				by = append(by, policy.Browser)
			}
		}
		if !allowed {
			without = append(without, name)
		}
	}
	slices.Sort(by)
	v.found = strings.Join(slices.Compact(by), ", ")
	if len(without) > 0 {
		v.hit("no-policy", "names", strings.Join(without, ", "))
	}
	return v
}

// judge returns the fault of a name's SPN.
func (v *verdict) judge(x *exam, name string, found []serviceName) {
	of := func(spn string) (all []serviceName) {
		for _, one := range found {
			if strings.EqualFold(one.Name, spn) {
				all = append(all, one)
			}
		}
		return all
	}
	spn, account := "HTTP/"+name, "ACCOUNT"
	if x.service.Installed {
		account = x.service.Account
	}
	holders := of(spn)
	if len(holders) == 0 && asComputer(x.service) {
		holders = of("HOST/" + name) // HOST/ also stands for HTTP/
	}
	var accounts []string
	for _, holder := range holders {
		accounts = append(accounts, holder.Account)
	}
	values := []string{
		"spn", spn, "account", account, "accounts", strings.Join(accounts, ", "), "count", strconv.Itoa(len(holders)),
	}
	asAccount := x.settings.SignIn.Keytab == "" && !asComputer(x.service) && x.service.AccountID != ""
	switch {
	case len(holders) == 0:
		v.hit("missing", values...)
	case len(holders) > 1:
		v.hit("double", values...)
	case asAccount && holders[0].SID != x.service.AccountID:
		v.hit("another", values...)
	}
}

// asComputer reports whether the service authenticates to other computers as the computer itself.
func asComputer(service host.Service) bool {
	names := []string{"LocalSystem", `NT AUTHORITY\NetworkService`, `NT AUTHORITY\SYSTEM`}
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, service.Account) })
}
