package doctor

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"adgateway/ps"
	"adgateway/winsvc/host"
)

const noTickets = "sign-in with tickets is off (signIn.mode)"

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
