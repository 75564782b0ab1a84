// The few members of System.Management.Automation that sandbox.cs uses, so that a
// C# compiler can read it where there is no PowerShell.
using System.Collections.ObjectModel;
using System.Runtime.CompilerServices;

namespace System.Management.Automation
{
    public abstract class PSPropertyInfo
    {
        public abstract string Name { get; }
        public abstract object Value { get; set; }
    }

    public class PSNoteProperty : PSPropertyInfo
    {
        readonly string name;
        object value;
        public PSNoteProperty(string name, object value) { this.name = name; this.value = value; }
        public override string Name { get { return name; } }
        public override object Value { get { return value; } set { this.value = value; } }
    }

    public class PSObject
    {
        // What was added to an object is found again however it is wrapped, as in PowerShell.
        class Added
        {
            public readonly Collection<PSPropertyInfo> Properties = new Collection<PSPropertyInfo>();
            public readonly Collection<string> TypeNames = new Collection<string>();
        }

        static readonly ConditionalWeakTable<object, Added> all = new ConditionalWeakTable<object, Added>();
        readonly object inner;
        readonly Added added;
        public PSObject(object o) { inner = o; added = all.GetOrCreateValue(o); }
        public static PSObject AsPSObject(object o) { return o as PSObject ?? new PSObject(o); }
        public object BaseObject { get { return inner; } }
        public Collection<PSPropertyInfo> Properties { get { return added.Properties; } }
        public Collection<string> TypeNames { get { return added.TypeNames; } }
    }
}
