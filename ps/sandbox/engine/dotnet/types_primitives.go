package dotnet

func declarePrimitives() {
	value := func(name string, aliases ...string) *Type {
		return Register(Class{Name: "System." + name, Aliases: aliases, Kind: KindStruct})
	}
	TInt32, TInt64 = value("Int32", "int"), value("Int64", "long")
	TByte, TSByte = value("Byte", "byte"), value("SByte", "sbyte")
	TInt16, TUInt16 = value("Int16", "short"), value("UInt16", "ushort")
	TUInt32, TUInt64 = value("UInt32", "uint"), value("UInt64", "ulong")
	TDouble = value("Double", "double")
	TBool, TChar = value("Boolean", "bool"), value("Char", "char")
	TByteArray = TByte.Array()
	registerGeneric("System.Nullable", 1, func([]*Type) Class {
		return Class{Kind: KindNullable, Base: TValueType}
	})
}

func declareEnums() {
	enum := func(name string, values []EnumValue) *Type {
		return Register(Class{Name: name, Kind: KindEnum, Values: values})
	}
	TDateTimeKind = enum("System.DateTimeKind", Names(0, "Unspecified", "Utc", "Local"))
	enum("System.StringComparison", Names(0, "CurrentCulture", "CurrentCultureIgnoreCase",
		"InvariantCulture", "InvariantCultureIgnoreCase", "Ordinal", "OrdinalIgnoreCase"))
	TErrorCategory = enum(automation+"ErrorCategory", Names(0, categoryNames[:]...))
	enum(automation+"ActionPreference",
		Names(0, "SilentlyContinue", "Stop", "Continue", "Inquire", "Ignore", "Suspend", "Break"))
	enum(automation+"ConfirmImpact", Names(0, "None", "Low", "Medium", "High"))
	enum(automation+"PSLanguageMode",
		Names(0, "FullLanguage", "RestrictedLanguage", "NoLanguage", "ConstrainedLanguage"))
}
