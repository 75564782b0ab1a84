package host

import "strings"

// BrowserPolicy is a group policy of this computer that lets browsers send tickets to sites without asking
// the user.
type BrowserPolicy struct {
	Browser string   // "Edge", "Chrome", "Firefox" or "Internet Options"
	Sites   []string // as written in the policy: https://*.corp.example, corp.example
}

// Allows reports whether the policy lets its browsers send tickets to a host.
func (p BrowserPolicy) Allows(host string) bool {
	host = strings.ToLower(host)
	for _, site := range p.Sites {
		site = strings.ToLower(strings.TrimSpace(site))
		if _, after, has := strings.Cut(site, "://"); has {
			site = after
		}
		site, _, _ = strings.Cut(strings.TrimSuffix(site, "/"), ":")
		domain, wild := strings.CutPrefix(site, "*")
		if site == "" {
			continue
		}
		if host == site || (wild || strings.HasPrefix(site, ".")) && strings.HasSuffix(host, domain) {
			return true
		}
	}
	return false
}
