package host

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/windows/registry"
)

const (
	firefoxSites = `SOFTWARE\Policies\Mozilla\Firefox\Authentication\SPNEGO`
	zoneSites    = `SOFTWARE\Policies\Microsoft\Windows\CurrentVersion\Internet Settings\ZoneMapKey`
	intranet     = "1" // a zone
)

// BrowserPolicies returns the policies of this computer and of the account of this process that list sites.
func BrowserPolicies() (all []BrowserPolicy, err error) {
	add := func(browser string, sites []string, failed error) {
		err = errors.Join(err, failed)
		if len(sites) > 0 {
			all = append(all, BrowserPolicy{Browser: browser, Sites: sites})
		}
	}
	for _, root := range []registry.Key{registry.LOCAL_MACHINE, registry.CURRENT_USER} {
		for browser, path := range map[string]string{
			"Edge": `SOFTWARE\Policies\Microsoft\Edge`, "Chrome": `SOFTWARE\Policies\Google\Chrome`,
		} {
			list, err := valuesOf(root, path, func(name, _ string) bool { return name == "AuthServerAllowlist" })
			var sites []string
			for _, text := range list {
				sites = append(sites, strings.Split(text, ",")...)
			}
			add(browser, sites, err)
		}
		list, failed := valuesOf(root, firefoxSites, func(string, string) bool { return true })
		add("Firefox", slices.Sorted(maps.Values(list)), failed)
		zones, failed := valuesOf(root, zoneSites, func(_, zone string) bool { return zone == intranet })
		add("Internet Options", slices.Sorted(maps.Keys(zones)), failed)
	}
	return all, err
}

// valuesOf returns the texts of a registry key, by name, for the names that wanted accepts.
func valuesOf(
	root registry.Key, path string, wanted func(name, text string) bool,
) (map[string]string, error) {
	key, err := registry.OpenKey(root, path, registry.QUERY_VALUE)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = key.Close() }() // opened for reading
	names, err := key.ReadValueNames(0)
	found := map[string]string{}
	for _, name := range names {
		text, _, err := key.GetStringValue(name)
		if err == nil && wanted(name, text) { // values of other types name no site
			found[name] = text
		}
	}
	return found, err
}
