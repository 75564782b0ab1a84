package dotnet

func declareAutomation() {
	TPSObject = Define(Class{Name: automation + "PSObject"}) // scripts do not name it
	TPSCustomObject = Register(Class{Name: automation + "PSCustomObject", Aliases: []string{"pscustomobject"}})
	TSwitch = Register(Class{Name: automation + "SwitchParameter", Aliases: []string{"switch"},
		Kind: KindStruct})
	TScriptBlock = Register(Class{Name: automation + "ScriptBlock", Aliases: []string{"scriptblock"}})
	declareSecrets()
	declareRecords()
}

// NewSwitch returns a SwitchParameter.
func NewSwitch(present bool) *Instance {
	i := NewInstance(TSwitch, "IsPresent", present)
	i.Text = Text(present)
	return i
}

func declareSecrets() {
	TSecureString = Register(Class{
		Name: "System.Security.SecureString", Aliases: []string{"securestring"},
		Members: []Member{
			Property("Length", func(self any) (any, error) { return int32(Length(self.(*SecureString).secret)), nil }),
			Method("Dispose", "", func(any, []any) (any, error) { return Void, nil }),
		},
	})
	TPSCredential = Register(Class{
		Name: automation + "PSCredential", Aliases: []string{"pscredential"},
		New: []Member{Constructor("string,securestring", func(_ any, a []any) (any, error) {
			return &PSCredential{UserName: a[0].(string), Password: a[1].(*SecureString)}, nil
		})},
		Members: []Member{
			Property("UserName", func(self any) (any, error) { return self.(*PSCredential).UserName, nil }),
			Property("Password", func(self any) (any, error) { return self.(*PSCredential).Password, nil }),
		},
	})
	var network *Type
	network = Register(Class{
		Name: "System.Net.NetworkCredential",
		New: []Member{
			Constructor("string,string", func(_ any, a []any) (any, error) {
				return &Instance{Type: network, Data: a[1].(string)}, nil
			}),
			Constructor("string,securestring", func(_ any, a []any) (any, error) {
				return &Instance{Type: network, Data: a[1].(*SecureString).secret}, nil
			}),
		},
		Members: []Member{
			Property("Password", func(self any) (any, error) { return self.(*Instance).Data, nil }),
			Property("SecurePassword", func(self any) (any, error) { return NewSecureString(self.(*Instance).Data.(string)), nil }),
		},
	})
}

func declareRecords() {
	record := func(self any) *ErrorRecord { return self.(*ErrorRecord) }
	category := Register(Class{Name: automation + "ErrorCategoryInfo"})
	errorDetailsType = Register(Class{Name: automation + "ErrorDetails", New: []Member{
		Constructor("string", func(_ any, a []any) (any, error) { return newDetails(a[0].(string)), nil }),
	}})
	invocation := Register(Class{Name: automation + "InvocationInfo"})
	TErrorRecord = Register(Class{
		Name: automation + "ErrorRecord",
		New: []Member{
			Constructor("System.Exception,string,System.Management.Automation.ErrorCategory,object", func(_ any, a []any) (any, error) {
				return NewError(a[0].(*Exception), a[1].(string), Category(a[2].(Enum).Value), a[3]), nil
			}),
		},
		Members: []Member{
			Property("Exception", func(self any) (any, error) { return record(self).Exception, nil }),
			Property("TargetObject", func(self any) (any, error) { return record(self).Target, nil }),
			Property("CategoryInfo", func(self any) (any, error) { return record(self).categoryInfo(category), nil }),
			Property("FullyQualifiedErrorId", func(self any) (any, error) { return record(self).ErrorID, nil }),
			Property("ErrorDetails", func(self any) (any, error) {
				if record(self).Details == "" {
					return nil, nil
				}
				return newDetails(record(self).Details), nil
			}),
			Property("InvocationInfo", func(self any) (any, error) { return record(self).invocationInfo(invocation), nil }),
		},
	})
}

var errorDetailsType *Type

func newDetails(message string) *Instance {
	i := NewInstance(errorDetailsType, "Message", message, "RecommendedAction", "")
	i.Text = message
	return i
}

// categoryInfo returns CategoryInfo. Its text is "Category: (target:type) [activity], reason".
func (r *ErrorRecord) categoryInfo(t *Type) any {
	reason := r.Reason
	if reason == "" {
		reason = r.Exception.Type.ShortName()
	}
	targetName, targetType := "", ""
	if r.Target != nil {
		targetName, targetType = ToText(r.Target), TypeOf(r.Target).ShortName()
	}
	i := NewInstance(t, "Category", Enum{TErrorCategory, int64(r.Category)}, "Activity", r.Activity, "Reason",
		reason,
		"TargetName", targetName, "TargetType", targetType)
	i.Text = r.Category.String() + ": (" + targetName + ":" + targetType + ") [" + r.Activity + "], " + reason
	return i
}

func (r *ErrorRecord) invocationInfo(t *Type) any {
	if r.Invocation != nil {
		return r.Invocation
	}
	if r.Position == nil {
		return nil
	}
	return NewInstance(t, "MyCommand", nil, "ScriptLineNumber", int32(r.Position.Line), "OffsetInLine",
		int32(r.Position.Column),
		"ScriptName", r.Position.File, "Line", r.Position.Text, "InvocationName", "", "PositionMessage", "")
}
