// Everything that functions of a real PowerShell cannot do: the connection to the sandbox, the types of the
// modules, and methods that throw. Windows PowerShell compiles this file, so it is C# 5 without warnings, and
// uses nothing but System and System.Management.Automation.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Management.Automation;
using System.Net.Sockets;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Security;
using System.Text;

namespace AdGateway.Sandbox
{
    // The only connection of the process. A frame is its length in four bytes, followed by JSON.
    public static class Link
    {
        const string AddressVariable = "ADGATEWAY_ENGINE_ADDRESS";
        const string KeyVariable = "ADGATEWAY_ENGINE_KEY";
        const int MaxFrame = 64 << 20;
        const int ConnectWait = 10000;
        const int Wait = 300000;

        static TcpClient client;
        static NetworkStream stream;

        // Connects with the key in the environment, which can be used only once, and removes the key from the
        // environment.
        public static void Open()
        {
            if (stream != null) { return; }
            string address = Environment.GetEnvironmentVariable(AddressVariable);
            string key = Environment.GetEnvironmentVariable(KeyVariable);
            Environment.SetEnvironmentVariable(AddressVariable, null);
            Environment.SetEnvironmentVariable(KeyVariable, null);
            if (string.IsNullOrEmpty(address) || string.IsNullOrEmpty(key))
            {
                throw new InvalidOperationException("This module belongs to a sandbox of adgateway, and none has started this process.");
            }
            int colon = address.LastIndexOf(':');
            client = new TcpClient();
            client.NoDelay = true;
            IAsyncResult connecting = client.BeginConnect(address.Substring(0, colon), int.Parse(address.Substring(colon + 1), CultureInfo.InvariantCulture), null, null);
            if (!connecting.AsyncWaitHandle.WaitOne(ConnectWait))
            {
                client.Close();
                throw new TimeoutException("The sandbox at " + address + " does not answer.");
            }
            client.EndConnect(connecting);
            client.SendTimeout = Wait;
            client.ReceiveTimeout = Wait;
            stream = client.GetStream();
            Send("{\"f\":\"hello\",\"key\":\"" + key + "\"}");
            Receive();
        }

        public static void Send(string json)
        {
            Open();
            byte[] body = new UTF8Encoding(false).GetBytes(json);
            byte[] frame = new byte[body.Length + 4];
            for (int i = 0; i < 4; i++) { frame[i] = (byte)(body.Length >> (24 - 8 * i)); }
            Buffer.BlockCopy(body, 0, frame, 4, body.Length);
            stream.Write(frame, 0, frame.Length);
        }

        public static string Receive()
        {
            byte[] head = Read(4);
            int size = (head[0] << 24) | (head[1] << 16) | (head[2] << 8) | head[3];
            if (size < 0 || size > MaxFrame) { throw new InvalidDataException("The sandbox sent a frame of " + size + " bytes."); }
            return Encoding.UTF8.GetString(Read(size));
        }

        static byte[] Read(int size)
        {
            byte[] data = new byte[size];
            for (int at = 0; at < size; )
            {
                int n = stream.Read(data, at, size - at);
                if (n <= 0) { throw new EndOfStreamException("The sandbox is gone."); }
                at += n;
            }
            return data;
        }

        static readonly List<long> lost = new List<long>();

        internal static void Lose(long id)
        {
            lock (lost) { lost.Add(id); }
        }

        // Returns the ids that are no longer referenced here, as JSON: ",release:[...]". Returns "" if there
        // are none.
        public static string Released()
        {
            lock (lost)
            {
                if (lost.Count == 0) { return ""; }
                StringBuilder text = new StringBuilder(",\"release\":[");
                for (int i = 0; i < lost.Count; i++)
                {
                    if (i > 0) { text.Append(','); }
                    text.Append(lost[i].ToString(CultureInfo.InvariantCulture));
                }
                lost.Clear();
                return text.Append(']').ToString();
            }
        }
    }

    // An object that the sandbox knows by a number, or that was created from a text.
    public class Entity
    {
        internal string given;
        internal string text;
        internal string type;
        internal long id;

        public Entity() { }
        public Entity(string identity) { given = identity; }
        public Entity(Guid identity) { given = identity.ToString(); }
        public Entity(SecurityIdentifier identity) { given = identity.Value; }

        ~Entity()
        {
            if (id != 0) { Link.Lose(id); }
        }

        public override string ToString()
        {
            return given ?? (string.IsNullOrEmpty(text) ? type ?? GetType().FullName : text);
        }
    }

    // A copy of an object of the sandbox and of the objects in it, like the copy that the constructor of
    // CimInstance makes.
    public class Copy : Entity
    {
        readonly Entity source; // keeps the sandbox from releasing the object with this number

        public Copy(PSObject original)
        {
            source = (Entity)original.BaseObject;
            given = source.given;
            text = source.text;
            type = source.type;
            id = source.id;
            GC.SuppressFinalize(this);
            PSObject me = PSObject.AsPSObject(this);
            for (int i = original.TypeNames.Count - 1; i >= 0; i--)
            {
                if (!me.TypeNames.Contains(original.TypeNames[i])) { me.TypeNames.Insert(0, original.TypeNames[i]); }
            }
            foreach (PSPropertyInfo property in original.Properties)
            {
                if (property is PSNoteProperty) { me.Properties.Add(new PSNoteProperty(property.Name, Of(property.Value))); }
            }
        }

        // Returns a Copy of an object of the sandbox, and any other value unchanged.
        static object Of(object value)
        {
            PSObject wrapped = value as PSObject;
            if (wrapped == null && value is Entity) { wrapped = PSObject.AsPSObject(value); }
            if (wrapped == null || !(wrapped.BaseObject is Entity)) { return value; }
            return PSObject.AsPSObject(new Copy(wrapped));
        }
    }

    // Used where .NET has no SecurityIdentifier.
    public class SecurityIdentifier
    {
        readonly string value;
        public SecurityIdentifier(string sddlForm) { value = sddlForm; }
        public string Value { get { return value; } }
        public override string ToString() { return value; }
        public override bool Equals(object other) { return other != null && other.ToString() == value; }
        public override int GetHashCode() { return value.GetHashCode(); }
    }

    // The functions with which the modules create and inspect values.
    public static class Kit
    {
        static object Base(object o)
        {
            PSObject wrapped = o as PSObject;
            return wrapped == null ? o : wrapped.BaseObject;
        }

        static string Text(object o)
        {
            return Convert.ToString(Base(o), CultureInfo.InvariantCulture);
        }

        static readonly Dictionary<string, Type> types = new Dictionary<string, Type>
        {
            // in an assembly that may not be loaded yet
            { "System.Security.Authentication.AuthenticationException", typeof(System.Security.Authentication.AuthenticationException) },
        };

        // Returns a type by its name, or null if there is none. Types of this file take precedence.
        static Type Find(string name)
        {
            Type found;
            if (types.TryGetValue(name, out found)) { return found; }
            found = typeof(Kit).Assembly.GetType(name, false);
            foreach (Assembly assembly in AppDomain.CurrentDomain.GetAssemblies())
            {
                if (found != null) { break; }
                try { found = assembly.GetType(name, false); }
                catch (IOException) { } // an assembly that it needs is missing
            }
            types[name] = found;
            return found;
        }

        // Returns an object with properties, which are given as alternating names and values.
        public static PSObject Make(string type, string text, long id, object[] pairs)
        {
            Type known = typeof(Kit).Assembly.GetType(type, false);
            if (known == null || !typeof(Entity).IsAssignableFrom(known)) { known = typeof(Entity); }
            Entity made = (Entity)Activator.CreateInstance(known);
            made.text = text;
            made.type = type;
            made.id = id;
            PSObject o = new PSObject(made);
            for (int i = 0; i + 1 < pairs.Length; i += 2)
            {
                o.Properties.Add(new PSNoteProperty(Text(pairs[i]), pairs[i + 1]));
            }
            int hash = type.IndexOf('#');
            if (hash > 0) { o.TypeNames.Insert(0, type.Substring(0, hash)); }
            if (known == typeof(Entity)) { o.TypeNames.Insert(0, type); }
            return o;
        }

        public static bool IsEntity(object o) { return Base(o) is Entity; }
        public static long IdOf(object o) { return ((Entity)Base(o)).id; }
        public static string GivenOf(object o) { return ((Entity)Base(o)).given; }
        public static string TextOf(object o) { return ((Entity)Base(o)).text; }

        public static string TypeOf(object o)
        {
            object value = Base(o);
            Entity made = value as Entity;
            return made != null && made.type != null ? made.type : value.GetType().FullName;
        }

        // Returns a value that is fully described by a text.
        public static object Parsed(string type, string text)
        {
            if (type == "System.Net.IPAddress") { return System.Net.IPAddress.Parse(text); }
            if (type != "System.Security.Principal.SecurityIdentifier") { return text; }
            if (identifiers == null)
            {
                identifiers = Find(type) ?? Type.GetType(type + ", System.Security.Principal.Windows", false) ?? typeof(SecurityIdentifier);
                try { Activator.CreateInstance(identifiers, new object[] { "S-1-1-0" }); }
                catch (TargetInvocationException) { identifiers = typeof(SecurityIdentifier); } // not on this system
                catch (MemberAccessException) { identifiers = typeof(SecurityIdentifier); }
            }
            return Activator.CreateInstance(identifiers, new object[] { text });
        }

        static Type identifiers; // the type of SIDs on this system

        public static object Enumeration(string type, long value)
        {
            Type known = Find(type);
            if (known == null || !known.IsEnum) { return value; }
            return Enum.ToObject(known, value);
        }

        // Returns a collection of values: the module's own type, or an array of a type.
        public static object Collection(string type, object[] items)
        {
            if (type.EndsWith("[]", StringComparison.Ordinal))
            {
                Array array = Array.CreateInstance(Find(type.Substring(0, type.Length - 2)) ?? typeof(object), items.Length);
                try
                {
                    for (int i = 0; i < items.Length; i++) { array.SetValue(Base(items[i]), i); }
                    return array;
                }
                catch (InvalidCastException) { return items; }
            }
            Type known = typeof(Kit).Assembly.GetType(type, false);
            if (known == null || !typeof(ArrayList).IsAssignableFrom(known)) { return items; }
            ArrayList list = (ArrayList)Activator.CreateInstance(known);
            foreach (object item in items) { list.Add(item); }
            return list;
        }

        public static string Reveal(SecureString secret)
        {
            IntPtr text = Marshal.SecureStringToBSTR(secret);
            try { return Marshal.PtrToStringBSTR(text); }
            finally { Marshal.ZeroFreeBSTR(text); }
        }

        // Returns an exception of the named type, or an InvalidOperationException if the type cannot be
        // created. pairs contains alternating names and values of its properties.
        public static Exception Failure(string type, string message, int number, Exception inner, object[] pairs)
        {
            Exception made = null;
            Type known = Find(type);
            if (type == "System.Runtime.InteropServices.COMException") { made = new COMException(message, number); }
            if (made == null && known != null && typeof(Exception).IsAssignableFrom(known))
            {
                try { made = (Exception)Activator.CreateInstance(known, inner == null ? new object[] { message } : new object[] { message, inner }); }
                catch (MemberAccessException) { }
            }
            if (made == null) { made = new InvalidOperationException(message, inner); }
            if (number != 0) { Fill(made, "HResult", number); }
            for (int i = 0; i + 1 < pairs.Length; i += 2) { Fill(made, Text(pairs[i]), Base(pairs[i + 1])); }
            return made;
        }

        static void Fill(Exception made, string name, object value)
        {
            PropertyInfo property = made.GetType().GetProperty(name);
            if (property == null || property.GetSetMethod(true) == null) { return; }
            try
            {
                if (value != null && property.PropertyType.IsEnum) { value = Enum.ToObject(property.PropertyType, value); }
                else if (value is IConvertible) { value = Convert.ChangeType(value, property.PropertyType, CultureInfo.InvariantCulture); }
                property.SetValue(made, value, null);
            }
            catch (ArgumentException) { }
            catch (InvalidCastException) { }
        }
    }

    // Reads the JSON that the sandbox sends, for code that cannot use ConvertFrom-Json.
    class Json
    {
        readonly string text;
        int at;

        Json(string source) { text = source; }

        public static object Parse(string source) { return new Json(source).Value(); }

        public static string Quote(string source)
        {
            StringBuilder units = new StringBuilder("{\"t\":\"units\",\"v\":[");
            for (int i = 0; i < source.Length; i++)
            {
                if (i > 0) { units.Append(','); }
                units.Append(((int)source[i]).ToString(CultureInfo.InvariantCulture));
            }
            return units.Append("]}").ToString();
        }

        char Next()
        {
            while (at < text.Length && char.IsWhiteSpace(text[at])) { at++; }
            return at < text.Length ? text[at] : '\0';
        }

        object Value()
        {
            switch (Next())
            {
                case '{': return Members();
                case '[': return Items();
                case '"': return String();
                case 't': at += 4; return true;
                case 'f': at += 5; return false;
                case 'n': at += 4; return null;
            }
            int from = at;
            while (at < text.Length && "+-.eE0123456789".IndexOf(text[at]) >= 0) { at++; }
            return long.Parse(text.Substring(from, at - from), CultureInfo.InvariantCulture);
        }

        Dictionary<string, object> Members()
        {
            Dictionary<string, object> members = new Dictionary<string, object>();
            at++;
            while (Next() != '}')
            {
                if (text[at] == ',') { at++; Next(); }
                string name = String();
                Next();
                at++;
                members[name] = Value();
            }
            at++;
            return members;
        }

        List<object> Items()
        {
            List<object> items = new List<object>();
            at++;
            while (Next() != ']')
            {
                if (text[at] == ',') { at++; }
                items.Add(Value());
            }
            at++;
            return items;
        }

        string String()
        {
            StringBuilder s = new StringBuilder();
            for (at++; text[at] != '"'; at++)
            {
                if (text[at] != '\\') { s.Append(text[at]); continue; }
                at++;
                int which = "bfnrt".IndexOf(text[at]);
                if (which >= 0) { s.Append("\b\f\n\r\t"[which]); }
                else if (text[at] == 'u')
                {
                    s.Append((char)int.Parse(text.Substring(at + 1, 4), NumberStyles.HexNumber, CultureInfo.InvariantCulture));
                    at += 4;
                }
                else { s.Append(text[at]); }
            }
            at++;
            return s.ToString();
        }
    }

    // An object that lives in the sandbox.
    public class Remote
    {
        internal long id;

        ~Remote()
        {
            if (id != 0) { Link.Lose(id); }
        }

        // Makes a call for an object: "new", "get", "set" or "invoke".
        internal object Call(string kind, string name, params object[] values)
        {
            StringBuilder call = new StringBuilder("{\"f\":\"" + kind + "\"");
            if (kind == "new") { call.Append(",\"type\":\"" + name + "\""); }
            else { call.Append(",\"id\":" + id.ToString(CultureInfo.InvariantCulture) + ",\"name\":\"" + name + "\""); }
            call.Append(Link.Released() + ",\"bound\":[");
            for (int i = 0; i < values.Length; i++)
            {
                if (i > 0) { call.Append(','); }
                call.Append("{\"value\":" + Encode(values[i]) + "}");
            }
            Link.Send(call.Append("]}").ToString());
            Dictionary<string, object> answer = (Dictionary<string, object>)Json.Parse(Link.Receive());
            object part;
            if ((string)answer["f"] == "throw")
            {
                List<object> record = (List<object>)((Dictionary<string, object>)answer["record"])["v"];
                Exception thrown = Thrown(record[0]);
                throw thrown.InnerException ?? thrown;
            }
            if ((string)answer["f"] != "end")
            {
                throw new InvalidOperationException(answer.TryGetValue("text", out part) ? (string)part : "The sandbox failed.");
            }
            if (!answer.TryGetValue("values", out part)) { return null; }
            return Decode(((List<object>)part)[0]);
        }

        static string Encode(object value)
        {
            PSObject wrapped = value as PSObject;
            if (wrapped != null) { value = wrapped.BaseObject; }
            if (value == null) { return "null"; }
            IList list = value as IList;
            if (list == null) { return Json.Quote(Convert.ToString(value, CultureInfo.InvariantCulture)); }
            StringBuilder items = new StringBuilder("{\"t\":\"array\",\"n\":\"System.String\",\"v\":[");
            for (int i = 0; i < list.Count; i++)
            {
                if (i > 0) { items.Append(','); }
                items.Append(Encode(list[i]));
            }
            return items.Append("]}").ToString();
        }

        static object Decode(object node)
        {
            string text = node as string;
            if (text != null) { return text.Substring(1); }
            if (node is long) { return (int)(long)node; }
            Dictionary<string, object> members = node as Dictionary<string, object>;
            if (members == null) { return node; }
            switch ((string)members["t"])
            {
                case "remote":
                    return members["id"];
                case "units":
                    StringBuilder units = new StringBuilder();
                    foreach (object unit in (List<object>)members["v"]) { units.Append((char)(long)unit); }
                    return units.ToString();
                case "array":
                    List<object> items = new List<object>();
                    foreach (object item in (List<object>)members["v"]) { items.Add(Decode(item)); }
                    return items.ToArray();
                case "exception":
                    return Thrown(node);
            }
            throw new InvalidDataException("The sandbox sent a value of the kind " + members["t"] + ".");
        }

        static Exception Thrown(object node)
        {
            Dictionary<string, object> members = (Dictionary<string, object>)node;
            List<object> parts = (List<object>)members["v"];
            List<object> pairs = new List<object>();
            for (int i = 3; i < parts.Count; i++) { pairs.Add(Decode(parts[i])); }
            object inner = Decode(parts[2]);
            return Kit.Failure((string)members["n"], (string)Decode(parts[0]), (int)Decode(parts[1]), inner as Exception, pairs.ToArray());
        }
    }

    // The part of System.DirectoryServices.DirectoryEntry that scripts use.
    public class DirectoryEntry : Remote, IDisposable
    {
        readonly string path;
        public DirectoryEntry(string path)
        {
            this.path = path;
            id = (long)Call("new", "System.DirectoryServices.DirectoryEntry", path);
        }
        public string Path { get { return path; } }
        public PropertyCollection Properties { get { return new PropertyCollection((long)Call("get", "Properties")); } }
        public void RefreshCache(string[] propertyNames) { Call("invoke", "RefreshCache", (object)propertyNames); }
        public void CommitChanges() { Call("invoke", "CommitChanges"); }
        public object InvokeGet(string propertyName) { return Call("invoke", "InvokeGet", propertyName); }
        public void Close() { Call("invoke", "Close"); }
        public void Dispose() { Call("invoke", "Dispose"); }
    }

    public class PropertyCollection : Remote
    {
        internal PropertyCollection(long id) { this.id = id; }
        public PropertyValueCollection this[string propertyName]
        {
            get { return new PropertyValueCollection((long)Call("invoke", "Item", propertyName)); }
        }
    }

    public class PropertyValueCollection : Remote
    {
        internal PropertyValueCollection(long id) { this.id = id; }
        public object Value
        {
            get { return Call("get", "Value"); }
            set { Call("set", "Value", value); }
        }
        public int Count { get { return (int)Call("get", "Count"); } }
        public void Clear() { Call("invoke", "Clear"); }
    }
}
