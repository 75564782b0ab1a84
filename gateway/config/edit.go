package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AppendAccount returns the text of a settings file with one more item in acme.accounts. It keeps comments.
// If the file has no ACME settings yet, the new lines are appended to its unchanged text.
func AppendAccount(text []byte, a ACMEAccount) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("the settings file cannot be read: %w", err)
	}
	item := map[string]string{"subdomain": a.Subdomain, "credential": a.Credential, "name": a.Name}
	var root *yaml.Node
	if len(document.Content) > 0 {
		root = document.Content[0]
	}
	if root == nil || root.Kind == yaml.MappingNode && member(root, "acme") == nil {
		added, err := yaml.Marshal(map[string]any{"acme": map[string]any{"accounts": []any{item}}})
		if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			text = append(bytes.Clone(text), '\n')
		}
		if bytes.Contains(text, []byte("\r\n")) {
			added = []byte(strings.ReplaceAll(string(added), "\n", "\r\n"))
		}
		return append(bytes.Clone(text), added...), err
	}
	acme := member(root, "acme")
	if acme != nil && acme.Tag == "!!null" { // a heading without settings
		*acme = yaml.Node{Kind: yaml.MappingNode, HeadComment: acme.HeadComment, LineComment: acme.LineComment,
			FootComment: acme.FootComment}
	}
	if acme == nil || acme.Kind != yaml.MappingNode {
		return nil, errors.New("acme in the settings file contains no settings")
	}
	accounts := member(acme, "accounts")
	if accounts == nil {
		accounts = &yaml.Node{Kind: yaml.SequenceNode}
		acme.Content = append(acme.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "accounts"}, accounts)
	}
	var node yaml.Node
	if err := node.Encode(item); err != nil {
		return nil, err
	}
	if accounts.Kind != yaml.SequenceNode {
		return nil, errors.New("acme.accounts of the settings file is not a list")
	}
	accounts.Content, accounts.Style = append(accounts.Content, &node), 0
	var edited bytes.Buffer
	encoder := yaml.NewEncoder(&edited)
	encoder.SetIndent(2)
	err := encoder.Encode(&document)
	return edited.Bytes(), errors.Join(err, encoder.Close())
}

// member returns the value of a key in a mapping, or nil if there is none.
func member(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}
