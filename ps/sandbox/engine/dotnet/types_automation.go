package dotnet

func declareAutomation() {
	TPSObject = Register(Class{
		Name: "System.Management.Automation.PSObject", Aliases: []string{"psobject"},
		New: []Member{
			Constructor("", func(any, []any) (any, error) { return &PSObject{}, nil }),
			Constructor("object", func(_ any, a []any) (any, error) { return a[0], nil }),
		},
		Static: []Member{Method("AsPSObject", "object", func(_ any, a []any) (any, error) { return a[0], nil })},
	})
	TPSCustomObject = Register(Class{Name: "System.Management.Automation.PSCustomObject", Aliases: []string{"pscustomobject"},
		New: []Member{Constructor("", func(any, []any) (any, error) { return &PSObject{}, nil })},
		// Called by name it has no text, unlike in a string.
		Members: []Member{Method("ToString", "", func(any, []any) (any, error) { return "", nil })}})
	TSwitch = Register(Class{
		Name: "System.Management.Automation.SwitchParameter", Aliases: []string{"switch"}, Kind: KindStruct, Implements: []string{"System.IEquatable"},
		New:     []Member{Constructor("bool", func(_ any, a []any) (any, error) { return NewSwitch(a[0].(bool)), nil })},
		Static:  []Member{Property("Present", func(any) (any, error) { return NewSwitch(true), nil })},
		Members: []Member{Method("ToBool", "", func(self any, _ []any) (any, error) { return Truthy(self), nil })},
	})
	TRef = Register(Class{Name: "System.Management.Automation.PSReference", Aliases: []string{"ref"}, Members: []Member{
		{Name: "Value", Get: func(self any) (any, error) { return self.(*Ref).Get(), nil },
			Set: func(self, v any) error { return self.(*Ref).Set(v) }},
	}})
	TScriptBlock = Register(Class{Name: "System.Management.Automation.ScriptBlock", Aliases: []string{"scriptblock"}})
	Register(Class{Name: "System.Management.Automation.WildcardPattern", Aliases: []string{"WildcardPattern"}, Static: []Member{
		Method("Escape", "string", func(_ any, a []any) (any, error) { return EscapeWildcard(Text(a[0])), nil }),
		Method("ContainsWildcardCharacters", "string", func(_ any, a []any) (any, error) { return HasWildcard(Text(a[0])), nil }),
	}})
	declareSecrets()
	declareRecords()
}

// NewSwitch makes a SwitchParameter.
func NewSwitch(present bool) *Instance {
	i := NewInstance(TSwitch, "IsPresent", present)
	i.Text = Text(present)
	return i
}

func declareSecrets() {
	secret := func(self any) *SecureString { return self.(*SecureString) }
	TSecureString = Register(Class{
		Name: "System.Security.SecureString", Aliases: []string{"securestring"},
		New: []Member{Constructor("", func(any, []any) (any, error) { return &SecureString{}, nil })},
		Members: []Member{
			Property("Length", func(self any) (any, error) { return int32(Length(secret(self).secret)), nil }),
			Method("AppendChar", "char", func(self any, a []any) (any, error) {
				s := secret(self)
				if s.readOnly {
					return nil, ExceptionNamed("System.InvalidOperationException", "Instance is read-only.")
				}
				s.secret = Concat(s.secret, CharString(a[0].(Char)))
				return Void, nil
			}),
			Method("MakeReadOnly", "", func(self any, _ []any) (any, error) { secret(self).readOnly = true; return Void, nil }),
			Method("IsReadOnly", "", func(self any, _ []any) (any, error) { return secret(self).readOnly, nil }),
			Method("Clear", "", func(self any, _ []any) (any, error) { secret(self).secret = ""; return Void, nil }),
			Method("Copy", "", func(self any, _ []any) (any, error) { return NewSecureString(secret(self).secret), nil }),
			Method("Dispose", "", func(any, []any) (any, error) { return Void, nil }),
		},
	})
	cred := func(self any) *PSCredential { return self.(*PSCredential) }
	network := declareNetworkCredential()
	TPSCredential = Register(Class{
		Name: "System.Management.Automation.PSCredential", Aliases: []string{"pscredential"},
		New: []Member{Constructor("string,securestring", func(_ any, a []any) (any, error) {
			if Text(a[0]) == "" {
				return nil, withParam(ExceptionNamed(automation+"PSArgumentException", "Cannot process argument because the value of argument \"userName\" is not valid. Change the value of the \"userName\" argument and run the operation again."), "")
			}
			if a[1] == nil {
				return nil, argumentNull("password")
			}
			return &PSCredential{UserName: Text(a[0]), Password: a[1].(*SecureString)}, nil
		})},
		Members: []Member{
			Property("UserName", func(self any) (any, error) { return cred(self).UserName, nil }),
			Property("Password", func(self any) (any, error) { return cred(self).Password, nil }),
			Method("GetNetworkCredential", "", func(self any, _ []any) (any, error) {
				return &Instance{Type: network, Data: &networkCredential{cred(self).UserName, "", cred(self).Password}}, nil
			}),
		},
	})
}

// networkCredential is what a NetworkCredential instance carries.
type networkCredential struct {
	user, domain string
	password     *SecureString
}

func declareNetworkCredential() *Type {
	var t *Type
	of := func(self any) *networkCredential { return self.(*Instance).Data.(*networkCredential) }
	build := func(_ any, a []any) (any, error) {
		c := &networkCredential{password: &SecureString{}}
		if len(a) > 0 {
			c.user = Text(a[0])
		}
		if len(a) > 1 {
			if s, ok := a[1].(*SecureString); ok {
				c.password = s
			} else {
				c.password = NewSecureString(Text(a[1]))
			}
		}
		if len(a) > 2 {
			c.domain = Text(a[2])
		}
		return &Instance{Type: t, Data: c}, nil
	}
	t = Register(Class{
		Name: "System.Net.NetworkCredential",
		New: []Member{Constructor("", build), Constructor("string,string", build), Constructor("string,securestring", build),
			Constructor("string,string,string", build), Constructor("string,securestring,string", build)},
		Members: []Member{
			Property("UserName", func(self any) (any, error) { return of(self).user, nil }),
			Property("Domain", func(self any) (any, error) { return of(self).domain, nil }),
			Property("Password", func(self any) (any, error) { return of(self).password.secret, nil }),
			Property("SecurePassword", func(self any) (any, error) { return NewSecureString(of(self).password.secret), nil }),
		},
	})
	return t
}

func declareRecords() {
	record := func(self any) *ErrorRecord { return self.(*ErrorRecord) }
	category := Register(Class{Name: automation + "ErrorCategoryInfo", Members: []Member{
		Method("GetMessage", "", func(self any, _ []any) (any, error) { return self.(*Instance).text(), nil }),
	}})
	details := Register(Class{Name: automation + "ErrorDetails", New: []Member{
		Constructor("string", func(_ any, a []any) (any, error) { return newDetails(Text(a[0])), nil }),
	}})
	invocation := Register(Class{Name: automation + "InvocationInfo"})
	errorDetailsType = details
	TErrorRecord = Register(Class{
		Name: automation + "ErrorRecord",
		New: []Member{
			Constructor("System.Exception,string,System.Management.Automation.ErrorCategory,object", func(_ any, a []any) (any, error) {
				if a[0] == nil {
					return nil, argumentNull("exception")
				}
				return NewError(a[0].(*Exception), Text(a[1]), Category(a[2].(Enum).Value), a[3]), nil
			}),
			Constructor("System.Management.Automation.ErrorRecord,System.Exception", func(_ any, a []any) (any, error) {
				copied := *a[0].(*ErrorRecord)
				if e, ok := a[1].(*Exception); ok {
					copied.Exception = e
				}
				return &copied, nil
			}),
		},
		Members: []Member{
			Property("Exception", func(self any) (any, error) { return record(self).Exception, nil }),
			Property("TargetObject", func(self any) (any, error) { return record(self).Target, nil }),
			Property("CategoryInfo", func(self any) (any, error) { return record(self).categoryInfo(category), nil }),
			Property("FullyQualifiedErrorId", func(self any) (any, error) { return record(self).ErrorID, nil }),
			{Name: "ErrorDetails", Get: func(self any) (any, error) {
				if record(self).Details == "" {
					return nil, nil
				}
				return newDetails(record(self).Details), nil
			}, Set: func(self, v any) error {
				record(self).Details = ToText(v)
				return nil
			}},
			Property("InvocationInfo", func(self any) (any, error) { return record(self).invocationInfo(invocation), nil }),
			Property("ScriptStackTrace", func(self any) (any, error) { return record(self).Stack, nil }),
			Property("PipelineIterationInfo", func(any) (any, error) { return NewArray(), nil }),
		},
	})
}

var errorDetailsType *Type

func newDetails(message string) *Instance {
	i := NewInstance(errorDetailsType, "Message", message, "RecommendedAction", "")
	i.Text = message
	return i
}

// categoryInfo makes CategoryInfo; its text is "Category: (target:type) [activity], reason".
func (r *ErrorRecord) categoryInfo(t *Type) any {
	reason := r.Reason
	if reason == "" {
		reason = r.Exception.Type.ShortName()
	}
	targetName, targetType := "", ""
	if r.Target != nil {
		targetName, targetType = ToText(r.Target), TypeOf(r.Target).ShortName()
	}
	i := NewInstance(t, "Category", Enum{TErrorCategory, int64(r.Category)}, "Activity", r.Activity, "Reason", reason,
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
	return NewInstance(t, "MyCommand", nil, "ScriptLineNumber", int32(r.Position.Line), "OffsetInLine", int32(r.Position.Column),
		"ScriptName", r.Position.File, "Line", r.Position.Text, "InvocationName", "", "PositionMessage", "")
}
