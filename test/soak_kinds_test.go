package test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"adgateway/ps/sandbox/directory"
)

// soakKinds are what clients of a soak work on.
var soakKinds = []*soakKind{
	{
		name: soakName("user"), truth: inDirectory("CN=%s,CN=Users,DC=corp,DC=example"),
		create: func(name, text string) call {
			return post("/api/ADUser/"+name, map[string]any{"Description": text, "Password": "Corr3ct-Horse", "PasswordNeverExpired": true})
		},
		update: func(name, text string) call { return putting("/api/ADUser/"+name, map[string]any{"Description": text}) },
		remove: func(name, _ string) call { return deleting("/api/ADUser/" + name) },
		read:   func(name, _ string) call { return getting("/api/ADUser/" + name + "/Details") },
		list:   func(string) call { return getting("/api/ADUser/ListUsers?OUPath=OU=Sales," + limitedOU) },
	},
	{
		name: soakName("group"), truth: inDirectory("CN=%s,CN=Users,DC=corp,DC=example"),
		create: func(name, text string) call {
			return post("/api/ADGroups/"+name+"/Security", map[string]any{"GroupDescription": text})
		},
		remove: func(name, _ string) call { return deleting("/api/ADGroups/" + name + "/Remove") },
		read:   func(name, _ string) call { return getting("/api/ADGroups/" + name) },
		list:   func(string) call { return getting("/api/ADGroups/Distribution/All") },
	},
	{
		name: soakName("pc"), truth: inDirectory("CN=%s,CN=Computers,DC=corp,DC=example"),
		create: func(name, text string) call {
			return post("/api/Computers/"+name+"/Register", map[string]any{"ADComputerDescription": text})
		},
		update: func(name, text string) call {
			return putting("/api/Computers/"+name+"/Update", map[string]any{"ComputerDescription": text})
		},
		remove: func(name, _ string) call {
			c := deleting("/api/Computers/Remove") // in bulk
			c.params = map[string]any{"WildCard": name, "OUPath": "CN=Computers,DC=corp,DC=example"}
			return c
		},
		read: func(name, _ string) call { return getting("/api/Computers/" + name) },
	},
	{
		name: soakName("ou"), truth: inDirectory("OU=%s," + emptyOU),
		create: func(name, text string) call {
			return post("/api/OU", map[string]any{"OUName": name, "OUDestinationPath": emptyOU, "OUDescription": text})
		},
		update: func(name, text string) call {
			return putting("/api/OU", map[string]any{"OUPath": "OU=" + name + "," + emptyOU, "OUDescription": text})
		},
		remove: func(name, _ string) call {
			c := deleting("/api/OU/Path/Remove")
			c.params = map[string]any{"OUPath": "OU=" + name + "," + emptyOU, "Force": true}
			return c
		},
		read: func(name, _ string) call {
			return getting("/api/OU/Path/Details?OUPath=OU%3D" + name + "," + strings.ReplaceAll(emptyOU, "=", "%3D"))
		},
	},
	{
		name: soakName("alias"), truth: inZone,
		create: func(name, text string) call { return post("/api/DnsCNameRecord", record(name, text)) },
		remove: func(name, text string) call {
			c := deleting("/api/DnsCNameRecord")
			c.params = record(name, text)
			return c
		},
		read: func(name, text string) call {
			c := getting("/api/DnsCNameRecord")
			c.params = record(name, cmp.Or(text, "nothing"))
			return c
		},
		list: func(name string) call { return getting("/api/DnsCNameRecord/HostName/" + name) },
	},
}

func soakName(kind string) func(client, slot int) string {
	return func(client, slot int) string { return fmt.Sprintf("%s%02dx%d", kind, client, slot) }
}

func post(path string, params map[string]any) call {
	return call{method: http.MethodPost, path: path, params: params}
}

func putting(path string, params map[string]any) call {
	return call{method: http.MethodPut, path: path, params: params}
}

func deleting(path string) call { return call{method: http.MethodDelete, path: path} }

func getting(path string) call { return call{method: http.MethodGet, path: path} }

func record(name, target string) map[string]any {
	return map[string]any{"DNS_HostName": name, "DNS_HostName_Alias": target, "ZoneName": "corp.example"}
}

// inDirectory is the truth about an object with a description.
func inDirectory(dn string) func(s *system, name, text string) (bool, string, error) {
	return func(s *system, name, _ string) (bool, string, error) {
		o, err := s.dc1().Get(context.Background(), strings.Replace(dn, "%s", name, 1), "description")
		var failed *directory.Error
		if errors.As(err, &failed) && failed.Kind == directory.KindNotFound {
			return false, "", nil
		}
		if err != nil {
			return false, "", err
		}
		return true, o.String("description"), nil
	}
}

// inZone is the truth about a record: it is that of the name, whatever its target.
func inZone(s *system, name, _ string) (bool, string, error) {
	for _, line := range s.world.DNS.Snapshot()["corp.example"] {
		if strings.HasPrefix(line, name+" ") || strings.HasPrefix(line, name+"\t") || strings.HasPrefix(line, name+".") {
			return true, nonceForm.FindString(line), nil
		}
	}
	return false, "", nil
}
