// The few members of System.Management.Automation that sandbox.cs uses, so that a
// C# compiler can read it where there is no PowerShell.
using System.Collections.ObjectModel;

namespace System.Management.Automation
{
    public class PSNoteProperty
    {
        public readonly string Name;
        public object Value;
        public PSNoteProperty(string name, object value) { Name = name; Value = value; }
    }

    public class PSObject
    {
        readonly object inner;
        readonly Collection<PSNoteProperty> properties = new Collection<PSNoteProperty>();
        readonly Collection<string> typeNames = new Collection<string>();
        public PSObject(object o) { inner = o; }
        public object BaseObject { get { return inner; } }
        public Collection<PSNoteProperty> Properties { get { return properties; } }
        public Collection<string> TypeNames { get { return typeNames; } }
    }
}
