package schema

// DeletedTypes are the types of objects that can be restored.
var DeletedTypes = []string{"user", "group", "computer", "ou"}

// BinStatus is the state of the Recycle Bin.
var BinStatus = &Shape{Name: "RecycleBin", Fields: []Field{
	{Name: "enabled", Type: BoolField},
	{Name: "forestLevel", Doc: "functional level of the forest"},
	{Name: "deletedObjectDays", Type: NumberField, Null: true, Doc: "how long a deleted object can be restored"},
	{Name: "tombstoneDays", Type: NumberField, Null: true, Doc: "how long what is left of it stays after that"},
	{Name: "canRead", Type: BoolField, Null: true, Doc: "whether the gateway's account sees deleted objects"},
	{Name: "canRestore", Type: BoolField, Null: true, Doc: "null: the directory does not say"},
}}

var deletedFields = []Field{
	{Name: "guid", Type: GUIDField},
	{Name: "sid", Null: true},
	{Name: "type", Enum: DeletedTypes},
	{Name: "name"},
	{Name: "account", Null: true, Doc: "sAMAccountName"},
	{Name: "lastOUPath", Null: true, Doc: "where it lay; null if that cannot be told any more"},
	{Name: "lastParentDeleted", Type: BoolField},
	{Name: "deletedAbout", Type: TimeField, Null: true, Doc: "its last change, which is hardly ever later than its deletion"},
	{Name: "expiresAbout", Type: TimeField, Null: true, Doc: "when it can no longer be restored"},
	{Name: "restorable", Type: BoolField, Doc: "as it was, where it was"},
	{Name: "why", Null: true, Doc: "why it is not restorable: off, recycled, parent_deleted, name_taken, account_taken"},
	{Name: "changeId", Null: true, Doc: "the change in the history that has removed it; null if this gateway does not know it"},
}

// DeletedObject is a deleted object. DeletedDetails also contains the objects that belong to it.
var (
	DeletedObject  = &Shape{Name: "DeletedObject", Fields: deletedFields}
	DeletedDetails = &Shape{Name: "DeletedDetails",
		Fields: append(deletedFields[:len(deletedFields):len(deletedFields)],
			Field{Name: "memberOf", Type: TextListField, Doc: "groups that it was a direct member of"},
			Field{Name: "children", Type: ObjectListField, Doc: "what lay directly below it", Of: []Field{
				{Name: "guid", Type: GUIDField}, {Name: "type"}, {Name: "name"},
			}},
		)}
)

// RestoredObject is a restored object in its current state, as the record of its class. Its fields describe
// an object of any other class, which was restored together with its parent.
var RestoredObject = &Shape{
	Name: "RestoredObject", VariantOf: "restoredAs",
	Variants: map[string]*Shape{"user": User, "group": Group, "computer": Computer, "ou": OU},
	Fields: []Field{
		{Name: "guid", Type: GUIDField},
		{Name: "sid", Null: true},
		{Name: "type"},
		{Name: "name"},
		{Name: "account", Null: true, Doc: "sAMAccountName"},
		{Name: "distinguishedName"},
		{Name: "ouPath", Attribute: "parent"},
		{Name: "enabled", Type: BoolField, Null: true, Doc: "null for what is no account"},
		{Name: "protected", Type: BoolField, Input: "Protect"},
	},
}
