package dotnet

func declareEnum(name string, values []EnumValue, aliases ...string) *Type {
	return Register(Class{Name: name, Kind: KindEnum, Values: values, Aliases: aliases})
}

func declareFlags(name string, values []EnumValue) *Type {
	return Register(Class{Name: name, Kind: KindEnum, Values: values, Flags: true})
}

func declareEnums() {
	declareEnum("System.DayOfWeek", Names(0, "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"))
	TDateTimeKind = declareEnum("System.DateTimeKind", Names(0, "Unspecified", "Utc", "Local"))
	TStringComparison = declareEnum("System.StringComparison", Names(0, "CurrentCulture", "CurrentCultureIgnoreCase",
		"InvariantCulture", "InvariantCultureIgnoreCase", "Ordinal", "OrdinalIgnoreCase"))
	declareFlags("System.StringSplitOptions", []EnumValue{{"None", 0}, {"RemoveEmptyEntries", 1}, {"TrimEntries", 2}})
	declareEnum("System.MidpointRounding", Names(0, "ToEven", "AwayFromZero", "ToZero", "ToNegativeInfinity", "ToPositiveInfinity"))
	declareFlags("System.Globalization.NumberStyles", []EnumValue{{"None", 0}, {"AllowLeadingWhite", 1}, {"AllowTrailingWhite", 2},
		{"AllowLeadingSign", 4}, {"Integer", 7}, {"AllowTrailingSign", 8}, {"AllowParentheses", 16}, {"AllowDecimalPoint", 32},
		{"AllowThousands", 64}, {"Number", 111}, {"AllowExponent", 128}, {"Float", 167}, {"AllowCurrencySymbol", 256},
		{"Currency", 383}, {"Any", 511}, {"AllowHexSpecifier", 512}, {"HexNumber", 515}})
	declareFlags("System.Globalization.DateTimeStyles", []EnumValue{{"None", 0}, {"AllowLeadingWhite", 1}, {"AllowTrailingWhite", 2},
		{"AllowInnerWhite", 4}, {"AllowWhiteSpaces", 7}, {"NoCurrentDateDefault", 8}, {"AdjustToUniversal", 16}, {"AssumeLocal", 32},
		{"AssumeUniversal", 64}, {"RoundtripKind", 128}})
	declareFlags("System.Text.RegularExpressions.RegexOptions", []EnumValue{{"None", 0}, {"IgnoreCase", 1}, {"Multiline", 2},
		{"ExplicitCapture", 4}, {"Compiled", 8}, {"Singleline", 16}, {"IgnorePatternWhitespace", 32}, {"RightToLeft", 64},
		{"ECMAScript", 256}, {"CultureInvariant", 512}})
	TSplitOptions = declareFlags("System.Management.Automation.SplitOptions", []EnumValue{{"None", 0}, {"SimpleMatch", 1}, {"RegexMatch", 2},
		{"CultureInvariant", 4}, {"IgnorePatternWhitespace", 8}, {"Multiline", 16}, {"Singleline", 32}, {"IgnoreCase", 64}, {"ExplicitCapture", 128}})
	TErrorCategory = declareEnum("System.Management.Automation.ErrorCategory", Names(0, categoryNames[:]...))
	declareEnum("System.Management.Automation.ActionPreference", Names(0, "SilentlyContinue", "Stop", "Continue", "Inquire", "Ignore", "Suspend", "Break"))
	declareEnum("System.Management.Automation.ConfirmImpact", Names(0, "None", "Low", "Medium", "High"))
	declareEnum("System.Management.Automation.PSLanguageMode", Names(0, "FullLanguage", "RestrictedLanguage", "NoLanguage", "ConstrainedLanguage"))
	declareFlags("System.Management.Automation.CommandTypes", []EnumValue{{"Alias", 1}, {"Function", 2}, {"Filter", 4}, {"Cmdlet", 8},
		{"ExternalScript", 16}, {"Application", 32}, {"Script", 64}, {"Configuration", 256}, {"All", 383}})
	declareFlags("System.Management.Automation.PSMemberTypes", []EnumValue{{"AliasProperty", 1}, {"CodeProperty", 2}, {"Property", 4},
		{"NoteProperty", 8}, {"ScriptProperty", 16}, {"Properties", 31}, {"PropertySet", 32}, {"Method", 64}, {"CodeMethod", 128},
		{"ScriptMethod", 256}, {"Methods", 448}, {"ParameterizedProperty", 512}, {"All", 8191}})
	declareEnum("System.ConsoleColor", Names(0, "Black", "DarkBlue", "DarkGreen", "DarkCyan", "DarkRed", "DarkMagenta", "DarkYellow", "Gray",
		"DarkGray", "Blue", "Green", "Cyan", "Red", "Magenta", "Yellow", "White"))
	declareEnum("System.Base64FormattingOptions", Names(0, "None", "InsertLineBreaks"))
	declareEnum("System.PlatformID", []EnumValue{{"Win32NT", 2}, {"Unix", 4}})
}

// enumNamed makes an enum value of a registered type.
func enumNamed(typeName, name string) Enum { return EnumOf(Lookup(typeName), name) }
