package schema

// DeletedTypes are the types of objects that can be restored.
var DeletedTypes = []string{"user", "group", "computer", "ou"}

// BinStatus is the state of the Recycle Bin.
var BinStatus = &Shape{Name: "RecycleBin", Fields: []Field{
	{Name: "enabled", Type: BoolField},
	{Name: "forestLevel", Doc: "Functional level of the forest."},
	{Name: "deletedObjectDays", Type: NumberField, Null: true, Doc: "Period during which a deleted object can be restored, in days; null if it is unknown."},
	{Name: "tombstoneDays", Type: NumberField, Null: true, Doc: "Period after that during which the rest of the object is kept, in days; null if it is unknown."},
	{Name: "canRead", Type: BoolField, Null: true, Doc: "Whether the service account can read deleted objects; null if it is unknown."},
	{Name: "canRestore", Type: BoolField, Null: true, Doc: "Whether the service account can restore deleted objects; null if it is unknown."},
}}

var deletedFields = []Field{
	{Name: "guid", Type: GUIDField},
	{Name: "sid", Null: true},
	{Name: "type", Enum: DeletedTypes},
	{Name: "name"},
	{Name: "account", Null: true, Doc: "Account name (sAMAccountName); null if the object has none."},
	{Name: "lastOUPath", Null: true, Doc: "Distinguished name of the former parent; null if it is unknown."},
	{Name: "lastParentDeleted", Type: BoolField, Doc: "Whether the former parent is deleted, too."},
	{Name: "deletedAbout", Type: TimeField, Null: true, Doc: "Time of the last change to the object, which is usually its deletion."},
	{Name: "expiresAbout", Type: TimeField, Null: true, Doc: "Time after which the object can no longer be restored."},
	{Name: "restorable", Type: BoolField, Doc: "Whether the object can be restored under its former name in its former location."},
	{Name: "why", Null: true, Doc: "Reason why the object cannot be restored: off, recycled, parent_deleted, name_taken, or account_taken; null if it can."},
	{Name: "changeId", Null: true, Doc: "ID of the change in the history that removed the object; null if it is unknown."},
}

// DeletedObject is a deleted object. DeletedDetails also contains the objects that belong to it.
var (
	DeletedObject  = &Shape{Name: "DeletedObject", Fields: deletedFields}
	DeletedDetails = &Shape{Name: "DeletedDetails",
		Fields: append(deletedFields[:len(deletedFields):len(deletedFields)],
			Field{Name: "memberOf", Type: TextListField, Doc: "Groups of which the object was a direct member."},
			Field{Name: "children", Type: ObjectListField, Doc: "Former child objects.", Of: []Field{
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
		{Name: "account", Null: true, Doc: "Account name (sAMAccountName); null if the object has none."},
		{Name: "distinguishedName"},
		{Name: "ouPath", Attribute: "parent"},
		{Name: "enabled", Type: BoolField, Null: true, Doc: "Whether the account is enabled; null if the object is not an account."},
		{Name: "protected", Type: BoolField, Input: "Protect"},
	},
}
