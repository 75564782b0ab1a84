// Uses the types of the modules as the functions do, against a sandbox, and says what it sees.
using System;
using System.Collections;
using System.Management.Automation;
using System.Security;
using AdGateway.Sandbox;
using Microsoft.ActiveDirectory.Management;

static class Talk
{
    static void Fails(string what, Action run)
    {
        try { run(); Console.WriteLine(what + ": nothing thrown"); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().FullName + " " + e.Message); }
    }

    static int Main()
    {
        Link.Open();
        Console.WriteLine("key left: " + (Environment.GetEnvironmentVariable("ADGATEWAY_ENGINE_KEY") ?? "none"));
        Link.Send("{\"f\":\"call\",\"cmdlet\":\"Get-ADUser\",\"set\":\"Identity\"" + Link.Released() + ",\"bound\":[{\"name\":\"Identity\",\"value\":\"aschmidt\"}]}");
        string frame = Link.Receive();
        Console.WriteLine("write: " + frame.StartsWith("{\"f\":\"write\"", StringComparison.Ordinal) + " " + frame.Contains("\"=aschmidt\""));
        Console.WriteLine("end: " + Link.Receive());

        PSObject user = Kit.Make("Microsoft.ActiveDirectory.Management.ADUser", "CN=x", 7, new object[] { "Name", "x" });
        Console.WriteLine(user.BaseObject.GetType().FullName + " " + user.BaseObject + " " + Kit.IdOf(user) + " " + Kit.TypeOf(user) + " " + (user.BaseObject is ADAccount) + " " + user.TypeNames.Count);
        PSObject zone = Kit.Make("Microsoft.Management.Infrastructure.CimInstance#root/Microsoft/Windows/DNS/DnsServerZone", "DnsServerZone", 8, new object[0]);
        Console.WriteLine(zone.TypeNames[0] + " " + zone.TypeNames[1] + " " + zone.BaseObject);
        PSObject data = Kit.Make("Microsoft.Management.Infrastructure.CimInstance#root/Microsoft/Windows/DNS/DnsServerResourceRecordA", "", 0, new object[] { "IPv4Address", "10.0.0.1" });
        PSObject record = Kit.Make("Microsoft.Management.Infrastructure.CimInstance#root/Microsoft/Windows/DNS/DnsServerResourceRecord", "DnsServerResourceRecord", 9, new object[] { "TimeToLive", 60, "RecordData", data });
        PSObject copy = PSObject.AsPSObject(new Copy(record));
        copy.Properties[0].Value = 120;
        ((PSObject)copy.Properties[1].Value).Properties[0].Value = "10.0.0.2";
        Console.WriteLine("copy: " + Kit.IdOf(copy) + " " + (Kit.TypeOf(copy) == Kit.TypeOf(record)) + " " + Kit.TextOf(copy) + " " + copy.Properties[0].Value + " " + record.Properties[0].Value + " " + data.Properties[0].Value + " " + (copy.TypeNames[0] == record.TypeNames[0]));
        Console.WriteLine(Kit.GivenOf(new ADUser("aschmidt")) + " " + Kit.GivenOf(new ADGroup(Guid.Empty)) + " " + Kit.IsEntity("x"));
        ArrayList values = (ArrayList)Kit.Collection("Microsoft.ActiveDirectory.Management.ADPropertyValueCollection", new object[] { "a", "b" });
        Console.WriteLine(values.Count + " " + ((object[])((ADPropertyValueCollection)values).Value).Length);
        Console.WriteLine(Kit.Collection("System.Net.IPAddress[]", new object[] { Kit.Parsed("System.Net.IPAddress", "10.0.0.1") }).GetType().FullName);
        Console.WriteLine(Kit.Parsed("System.Security.Principal.SecurityIdentifier", "S-1-5-32-544").ToString());
        Console.WriteLine((int)Kit.Enumeration("Microsoft.ActiveDirectory.Management.ADGroupScope", 2) + " " + Kit.Enumeration("Microsoft.ActiveDirectory.Management.ADGroupScope", 2) + " " + Kit.Enumeration("No.Such", 5));
        SecureString secret = new SecureString();
        foreach (char c in "s\u00e4cret") { secret.AppendChar(c); }
        Console.WriteLine(Kit.Reveal(secret).Length);

        ADException found = (ADException)Kit.Failure("Microsoft.ActiveDirectory.Management.ADPasswordException", "too short", 0, null, new object[] { "ErrorCode", 1325, "ServerErrorMessage", null });
        Console.WriteLine(found.GetType().Name + " " + found.ErrorCode + " " + found.Message + " " + (found is ADInvalidOperationException));
        Microsoft.Management.Infrastructure.CimException cim = (Microsoft.Management.Infrastructure.CimException)Kit.Failure("Microsoft.Management.Infrastructure.CimException", "m", 0, null,
            new object[] { "NativeErrorCode", 6, "MessageId", "WIN32 9601", "StatusCode", (uint)9601, "ErrorType", (ushort)0 });
        Console.WriteLine(cim.NativeErrorCode + " " + cim.MessageId + " " + cim.StatusCode);
        Console.WriteLine(Kit.Failure("System.UnauthorizedAccessException", "no", -2147024891, null, new object[0]).HResult);
        Console.WriteLine(Kit.Failure("System.Security.Authentication.AuthenticationException", "m", 0, null, new object[0]).GetType().Name);
        Console.WriteLine(Kit.Failure("No.Such.Exception", "m", 0, null, new object[0]).GetType().FullName);

        string dn = "LDAP://dc1.corp.example/CN=Anna Schmidt,OU=Sales,OU=Berlin,OU=Staff,OU=Corp,DC=corp,DC=example";
        using (DirectoryEntry entry = new DirectoryEntry(dn))
        {
            entry.RefreshCache(new string[] { "description", "userParameters" });
            Console.WriteLine("count " + entry.Properties["userParameters"].Count);
            entry.Properties["userParameters"].Value = "a\u0001\ud800\"\\\u65e5";
            entry.CommitChanges();
            entry.RefreshCache(new string[] { "userParameters" });
            foreach (char unit in (string)entry.Properties["userParameters"].Value) { Console.Write(((int)unit).ToString("x4")); }
            Console.WriteLine();
            entry.Properties["userParameters"].Clear();
            entry.CommitChanges();
            entry.RefreshCache(new string[] { "userParameters" });
            Console.WriteLine("cleared " + (entry.Properties["userParameters"].Value == null));
            Console.WriteLine(entry.Path == dn);
        }
        Fails("bad path", delegate { new DirectoryEntry("LDAP://x").RefreshCache(new string[] { "cn" }); });
        Fails("not there", delegate { new DirectoryEntry("LDAP://dc1.corp.example/CN=none,DC=corp,DC=example").RefreshCache(new string[] { "cn" }); });
        user = null;
        zone = null;
        for (int i = 0; i < 1000; i++) { Kit.Make("Microsoft.ActiveDirectory.Management.ADUser", "x", 100 + i, new object[0]); }
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Console.WriteLine("released " + Link.Released().StartsWith(",\"release\":[", StringComparison.Ordinal) + " " + Link.Released());
        return 0;
    }
}
