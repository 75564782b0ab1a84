package dotnet

// Types that Go code often names. They are set when the package is initialized.
var (
	TObject, TValueType, TEnum                                 *Type
	TString, TChar, TBool                                      *Type
	TInt32, TInt64, TByte, TSByte, TInt16, TUInt16             *Type
	TUInt32, TUInt64, TDouble                                  *Type
	TDateTime, TTimeSpan, TGuid, TVersion, TDateTimeKind       *Type
	TType, TRuntimeType, TVoid, TIPAddress, TCim, TCulture     *Type
	TArray, TObjectArray, TStringArray, TByteArray             *Type
	THashtable, TOrderedDictionary, TArrayList, TListObject    *Type
	TParameters                                                *Type // of $PSBoundParameters
	TPSObject, TPSCustomObject, TSwitch, TScriptBlock          *Type
	TSecureString, TPSCredential, TErrorRecord, TErrorCategory *Type
	TException, TRuntimeException, TPSInvalidCastException     *Type
)

// Later declarations refer to types of earlier ones.
func init() {
	declareRoots()
	declarePrimitives()
	declareEnums()
	declareText()
	declareTime()
	declareCollections()
	declareSystem()
	declareExceptions()
	declareAutomation()
	declareProperties()
	declareStreams()
	declareConverters()
}

func declareRoots() {
	TObject = Register(Class{Name: "System.Object", Aliases: []string{"object"}, Members: objectMembers})
	TValueType = Register(Class{Name: "System.ValueType", Base: TObject})
	TEnum = Register(Class{Name: "System.Enum", Base: TValueType, Members: []Member{
		Method("ToString", "", func(self any, _ []any) (any, error) { return Text(self), nil }),
	}})
	TArray = Register(Class{Name: "System.Array", Aliases: []string{"array"}, Implements: listInterfaces,
		Members: arrayMembers, Static: arrayStatics})
	TVoid = Register(Class{Name: "System.Void", Aliases: []string{"void"}, Kind: KindStruct})
	TType = Register(Class{Name: "System.Type", Aliases: []string{"type"}, Members: []Member{
		Property("Name", func(self any) (any, error) { return self.(*Type).ShortName(), nil }),
		Property("FullName", func(self any) (any, error) { return self.(*Type).FullName(), nil }),
	}})
	TRuntimeType = Register(Class{Name: "System.RuntimeType", Base: TType})
	for _, row := range [][2]string{
		{"System.Collections.IEnumerable", ""},
		{"System.Collections.ICollection", "System.Collections.IEnumerable"},
		{"System.Collections.IList", "System.Collections.ICollection"},
		{"System.Collections.IDictionary", "System.Collections.ICollection"},
		{"System.Collections.IComparer", ""},
		{"System.IFormatProvider", ""},
	} {
		Register(Class{Name: row[0], Kind: KindInterface, Implements: row[1:]})
	}
	tCollection = Lookup("System.Collections.ICollection")
}

// tCollection is the type of the collections of PSObject.
var tCollection *Type

// objectMembers are the members of every value.
var objectMembers = append(unsupportedMethods("ToString", "Equals", "GetHashCode"),
	Method("GetType", "", func(self any, _ []any) (any, error) { return TypeOf(self), nil }),
)
