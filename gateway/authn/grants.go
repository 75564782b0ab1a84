package authn

import "slices"

// Granting is an [Authenticator] that knows the groups that its credentials are limited to.
type Granting interface {
	// LimitedGroups returns the groups that are currently named in limits, without duplicates.
	LimitedGroups() []string
}

// uniqueGroups sorts a list in place and returns it without duplicates.
func uniqueGroups(groups []string) []string {
	slices.Sort(groups)
	return slices.Compact(groups)
}

// LimitedGroups implements [Granting].
func (s *Store) LimitedGroups() []string { return s.accounts.Load().limitedGroups }

// LimitedGroups implements [Granting].
func (s *Static) LimitedGroups() (all []string) {
	for p := range s.all() {
		all = append(all, p.Limits.Groups...)
	}
	return uniqueGroups(all)
}

// LimitedGroups implements [Granting].
func (c Chain) LimitedGroups() (all []string) {
	for _, s := range c {
		if granting, ok := s.(Granting); ok {
			all = append(all, granting.LimitedGroups()...)
		}
	}
	return uniqueGroups(all)
}
