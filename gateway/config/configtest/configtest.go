// Package configtest loads settings for tests.
package configtest

import "adgateway/gateway/config"

// Load returns the settings of [config.Sources] without their origins. name is the file name of
// text in messages. flags have the form "key=value".
func Load(name string, text []byte, flags []string) (*config.Settings, error) {
	settings, _, err := config.Sources{Name: name, Text: text, Flags: flags}.Load()
	return settings, err
}
