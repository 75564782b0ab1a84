package config

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Former holds the settings of a cluster of an earlier version. They only affect the migration of that
// cluster, and the refusal to start without a migration.
type Former struct {
	Name        string // name of the cluster
	Gateway     string // name of this gateway
	KeyFile     string // file of the key that sealed the data shared by the gateways
	Certificate string // certificate that this gateway presented to the nodes
	Shared      bool   // whether the accounts were in the store of the cluster

	Keys []string // keys of the earlier version's settings that are set, each once
}

// inFolder explains where names are stored now.
const inFolder = "'adgateway cluster init' and 'adgateway cluster join' keep the name in the folder cluster"

// hostsOfList explains where hosts are listed now.
const hostsOfList = "the nodes and gateways are those of the list that 'adgateway cluster init', 'join' " +
	"and 'leave' keep"

// formerSettings lists the settings of earlier versions with their replacements.
var formerSettings = []struct {
	key, now string
	take     func(f *Former, text string) // nil if its value is no longer needed
}{
	{"cluster.name", inFolder,
		func(f *Former, text string) { f.Name = text }},
	{"cluster.gateway", inFolder,
		func(f *Former, text string) { f.Gateway = text }},
	{"cluster.site", "all gateways use the servers that the leader chooses", nil},
	{"cluster.certificate", "the cluster has its own authority",
		func(f *Former, text string) { f.Certificate = text }},
	{"cluster.key", "the cluster has its own authority", nil},
	{"cluster.keyFile", "the key is cluster.key in the folder cluster",
		func(f *Former, text string) { f.KeyFile = text }},
	{"cluster.clockWarn", "the leader alone makes changes, by its own clock", nil},
	{"cluster.loss", "without a majority no gateway makes changes", nil},
	{"engine.node", inFolder, nil},
	{"engine.peers", hostsOfList, nil},
	{"engine.gateways", hostsOfList, nil},
	{"engine.certificate", "the cluster has its own authority", nil},
	{"engine.key", "the cluster has its own authority", nil},
	{"engine.ca", "the cluster has its own authority", nil},
	{"auth.shared", "the gateways of a cluster always share tokens and users",
		func(f *Former, text string) { f.Shared = text == "true" }},
}

// Advice returns a sentence for each setting of an earlier version that is set.
func (f Former) Advice() []string {
	var out []string
	for _, s := range formerSettings {
		if slices.Contains(f.Keys, s.key) {
			out = append(out, fmt.Sprintf("%s is a setting of an earlier version: %s; remove it", s.key, s.now))
		}
	}
	return out
}

// former reads a setting of an earlier version. It returns false if there was no setting with that key.
func (r *reader) former(key string, node *yaml.Node, from Origin) (is bool, err error) {
	for _, s := range formerSettings {
		if s.key != key {
			continue
		}
		f := &r.settings.Former
		r.from[key] = from
		if !slices.Contains(f.Keys, key) {
			f.Keys = append(f.Keys, key)
		}
		if s.take != nil && node.Kind != yaml.ScalarNode {
			return true, errors.New("takes a string")
		}
		if s.take != nil && node.Tag != "!!null" {
			s.take(f, node.Value)
		}
		return true, nil
	}
	return false, nil
}

// formerText is like former for a line of text. where names its source in messages.
func (r *reader) formerText(key, text string, from Origin, where string) bool {
	node := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str"}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err == nil && len(document.Content) == 1 {
		node = *document.Content[0]
	}
	is, err := r.former(key, &node, from)
	if err != nil {
		r.faults = append(r.faults, fmt.Errorf("%s: %w", where, err))
	}
	return is
}

// formerVariable returns the setting of an earlier version that an environment variable set, or "".
func formerVariable(name string) string {
	for _, s := range formerSettings {
		if (Row{Key: s.key}).Variable() == name {
			return s.key
		}
	}
	return ""
}
