package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/zones/zonestest"
	"adgateway/test/systemtest"
)

// soakKinds contains the kinds of objects that the clients of a soak test use.
var soakKinds = []*soakKind{
	{
		name: soakName("user"), truth: inDirectory("CN=%s,CN=Users,DC=corp,DC=example"),
		create: func(name, text string) systemtest.Call {
			return post("/api/ADUser/"+name,
				map[string]any{"Description": text, "Password": "Corr3ct-Horse", "PasswordNeverExpired": true})
		},
		update: func(name, text string) systemtest.Call {
			return putting("/api/ADUser/"+name, map[string]any{"Description": text})
		},
		remove: func(name, _ string) systemtest.Call { return deleting("/api/ADUser/" + name) },
		read:   func(name, _ string) systemtest.Call { return getting("/api/ADUser/" + name + "/Details") },
		list: func(string) systemtest.Call {
			return getting("/api/ADUser/ListUsers?OUPath=OU=Sales," + systemtest.LimitedOU)
		},
	},
	{
		name: soakName("group"), truth: inDirectory("CN=%s,CN=Users,DC=corp,DC=example"),
		create: func(name, text string) systemtest.Call {
			return post("/api/ADGroups/"+name+"/Security", map[string]any{"GroupDescription": text})
		},
		remove: func(name, _ string) systemtest.Call { return deleting("/api/ADGroups/" + name + "/Remove") },
		read:   func(name, _ string) systemtest.Call { return getting("/api/ADGroups/" + name) },
		list:   func(string) systemtest.Call { return getting("/api/ADGroups/Distribution/All") },
	},
	{
		name: soakName("pc"), truth: inDirectory("CN=%s,CN=Computers,DC=corp,DC=example"),
		create: func(name, text string) systemtest.Call {
			return post("/api/Computers/"+name+"/Register", map[string]any{"ADComputerDescription": text})
		},
		update: func(name, text string) systemtest.Call {
			return putting("/api/Computers/"+name+"/Update", map[string]any{"ComputerDescription": text})
		},
		remove: func(name, _ string) systemtest.Call {
			c := deleting("/api/Computers/Remove") // in bulk
			c.Params = map[string]any{"WildCard": name, "OUPath": "CN=Computers,DC=corp,DC=example"}
			return c
		},
		read: func(name, _ string) systemtest.Call { return getting("/api/Computers/" + name) },
	},
	{
		name: soakName("ou"), truth: inDirectory("OU=%s," + systemtest.EmptyOU),
		create: func(name, text string) systemtest.Call {
			return post("/api/OU", map[string]any{"OUName": name, "OUDestinationPath": systemtest.EmptyOU,
				"OUDescription": text})
		},
		update: func(name, text string) systemtest.Call {
			return putting("/api/OU", map[string]any{"OUPath": "OU=" + name + "," + systemtest.EmptyOU,
				"OUDescription": text})
		},
		remove: func(name, _ string) systemtest.Call {
			c := deleting("/api/OU/Path/Remove")
			c.Params = map[string]any{"OUPath": "OU=" + name + "," + systemtest.EmptyOU, "Force": true}
			return c
		},
		read: func(name, _ string) systemtest.Call {
			return getting("/api/OU/Path/Details?OUPath=OU%3D" + name + "," +
				strings.ReplaceAll(systemtest.EmptyOU, "=", "%3D"))
		},
	},
	{
		name: soakName("alias"), truth: inZone,
		create: func(name, text string) systemtest.Call { return post("/api/DnsCNameRecord", record(name, text)) },
		remove: func(name, text string) systemtest.Call {
			c := deleting("/api/DnsCNameRecord")
			c.Params = record(name, text)
			return c
		},
		read: func(name, text string) systemtest.Call {
			c := getting("/api/DnsCNameRecord")
			c.Params = record(name, cmp.Or(text, "nothing"))
			return c
		},
		list: func(name string) systemtest.Call { return getting("/api/DnsCNameRecord/HostName/" + name) },
	},
}

func soakName(kind string) func(client, slot int) string {
	return func(client, slot int) string { return fmt.Sprintf("%s%02dx%d", kind, client, slot) }
}

func post(path string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: http.MethodPost, Path: path, Params: params}
}

func putting(path string, params map[string]any) systemtest.Call {
	return systemtest.Call{Method: http.MethodPut, Path: path, Params: params}
}

func deleting(path string) systemtest.Call {
	return systemtest.Call{Method: http.MethodDelete, Path: path}
}

func getting(path string) systemtest.Call { return systemtest.Call{Method: http.MethodGet, Path: path} }

func record(name, target string) map[string]any {
	return map[string]any{"DNS_HostName": name, "DNS_HostName_Alias": target, "ZoneName": "corp.example"}
}

// inDirectory reads an object and its description from the directory.
func inDirectory(dn string) func(s *systemtest.System, name, text string) (bool, string, error) {
	return func(s *systemtest.System, name, _ string) (bool, string, error) {
		o, err := s.DC1().Get(context.Background(), strings.Replace(dn, "%s", name, 1), "description")
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

// inZone reads the record with the given name from the zone, regardless of its target.
func inZone(s *systemtest.System, name, _ string) (bool, string, error) {
	for _, line := range zonestest.Take(s.World.DNS)["corp.example"] {
		if strings.HasPrefix(line, name+" ") || strings.HasPrefix(line, name+"\t") ||
			strings.HasPrefix(line, name+".") {
			return true, systemtest.NoncePattern.FindString(line), nil
		}
	}
	return false, "", nil
}
