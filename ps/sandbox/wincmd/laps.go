package wincmd

import (
	"encoding/json"
	"strconv"
	"strings"

	"adgateway/ps/sandbox/directory"
	"adgateway/ps/sandbox/engine"
	"adgateway/ps/sandbox/engine/dotnet"
)

var tPassword = dotnet.Define(dotnet.Class{Name: "Microsoft.Windows.LAPS.PasswordInfo"})

// kept is the data that Windows LAPS stores with a password. For is set only in the octets of an encrypted
// password. It is the sAMAccountName of the account or group that can decrypt the password.
type kept struct {
	Account  string `json:"n"`
	Time     string `json:"t"` // file time in hexadecimal digits
	Password string `json:"p"`
	For      string `json:"d"`
}

// The attributes of LAPS.
const (
	expiry           = "msLAPS-PasswordExpirationTime"
	clear            = "msLAPS-Password"
	encrypted        = "msLAPS-EncryptedPassword"
	encryptedHistory = "msLAPS-EncryptedPasswordHistory"
	legacy           = "ms-Mcs-AdmPwd"
	legacyExpiry     = "ms-Mcs-AdmPwdExpirationTime"
)

// getPassword is the body of Get-LapsADPassword. A password that the account may not decrypt
// is not an error. It is omitted, and its status shows the reason (facts S42).
func getPassword(o *Options, c *engine.Call) error {
	if o.NoLAPS != nil && o.NoLAPS() {
		e := dotnet.ExceptionNamed("System.Management.Automation.CommandNotFoundException",
			"The term '%s' is not recognized as a name of a cmdlet, function, script file, "+
				"or executable program.", c.Name())
		rec := dotnet.NewError(e, "CommandNotFoundException", dotnet.ObjectNotFound, c.Name())
		e.Record = rec
		return rec
	}
	dc := o.controller(c.Context(), c.String("DomainController"))
	if dc == nil {
		const exception = "System.DirectoryServices.Protocols.LdapException"
		e := dotnet.ExceptionNamed(exception, "The LDAP server is unavailable.")
		return c.Throw(dotnet.NewError(e, "LapsLdapError", dotnet.NotSpecified, c.String("DomainController")))
	}
	for _, identity := range c.Strings("Identity") {
		if err := o.passwords(c, dc, identity); err != nil {
			return err
		}
	}
	return nil
}

// passwords writes the passwords of one computer.
func (o *Options) passwords(c *engine.Call, dc *directory.DC, identity string) error {
	found, err := dc.Get(c.Context(), identity,
		"name", expiry, clear, encrypted, encryptedHistory, legacy, legacyExpiry)
	if err != nil {
		e := dotnet.ExceptionNamed("System.InvalidOperationException", "The computer '%s' was not found.", identity)
		return c.WriteError(dotnet.NewError(e, "LapsComputerNotFound", dotnet.ObjectNotFound, identity))
	}
	write := func(source, text string, sealed bool, expires string) error {
		record := kept{Password: text}
		if source != "LegacyLapsCleartextPassword" && json.Unmarshal([]byte(text), &record) != nil {
			return nil // nobody could decrypt such passwords
		}
		return c.Write(o.password(c, dc, found, record, source, sealed, expires))
	}
	if text := found.String(clear); text != "" {
		if err := write("CleartextPassword", text, false, expiry); err != nil {
			return err
		}
	}
	if raw, ok := found.Value(encrypted).([]byte); ok {
		if err := write("EncryptedPassword", string(raw), true, expiry); err != nil {
			return err
		}
	}
	if c.Bool("IncludeHistory") {
		for _, raw := range found.Values(encryptedHistory) {
			if octets, ok := raw.([]byte); ok {
				if err := write("EncryptedPasswordHistory", string(octets), true, ""); err != nil {
					return err
				}
			}
		}
	}
	if text := found.String(legacy); text != "" {
		return write("LegacyLapsCleartextPassword", text, false, legacyExpiry)
	}
	return nil
}

// password returns one password in the form of the cmdlet (facts S42).
func (o *Options) password(
	c *engine.Call, dc *directory.DC, of *directory.Object, k kept, source string, sealed bool, expires string,
) any {
	var updated, ends, secret, decryptor any
	status := "NotApplicable"
	if sealed {
		status, decryptor = "Success", o.Domain.NetBIOSName()+`\`+k.For
	}
	secret = dotnet.NewSecureString(k.Password)
	account := any(k.Account)
	if sealed && !o.decrypts(c, dc, k.For) {
		status, secret, account = "Unauthorized", nil, ""
	} else if at, err := strconv.ParseInt(k.Time, 16, 64); err == nil {
		if t, ok := directory.FromFileTime(at); ok {
			updated = o.local(t)
		}
	}
	if source == "LegacyLapsCleartextPassword" {
		account = ""
	}
	if at, ok := of.Int(expires); ok && expires != "" {
		if t, has := directory.FromFileTime(at); has {
			ends = o.local(t)
		}
	}
	return dotnet.NewInstance(tPassword,
		"ComputerName", of.String("name"), "DistinguishedName", of.DN, "Account", account, "Password", secret,
		"PasswordUpdateTime", updated, "ExpirationTimestamp", ends, "Source", source,
		"DecryptionStatus", status, "AuthorizedDecryptor", decryptor,
	)
}

// decrypts reports whether the account of the sessions is a principal or one of its members.
func (o *Options) decrypts(c *engine.Call, dc *directory.DC, principal string) bool {
	find := func(name string, attributes ...string) *directory.Object {
		all, err := dc.Search(c.Context(), directory.SearchRequest{
			Filter: "(sAMAccountName=" + directory.EscapeFilter(name) + ")",
			Scope:  directory.ScopeSubtree, Attributes: attributes,
		})
		if err != nil || len(all) != 1 {
			return nil
		}
		return all[0]
	}
	account, of := find(strings.TrimSuffix(o.Account, "$")), find(principal)
	if account == nil || of == nil {
		return false
	}
	if account.SID == of.SID {
		return true
	}
	whole, err := dc.Search(c.Context(), directory.SearchRequest{
		Base: account.DN, Scope: directory.ScopeBase, Attributes: []string{"tokenGroups"},
	})
	if err != nil || len(whole) != 1 {
		return false
	}
	for _, sid := range whole[0].Strings("tokenGroups") {
		if sid == of.SID.String() {
			return true
		}
	}
	return false
}
