package schema

// StaleDays is the number of days for which an account was not used. The stored logon time may be
// 14 days old, so fewer days are meaningless.
var StaleDays Kind = staleDaysKind{Number(15, 3650)}

type staleDaysKind struct{ Kind }

func (k staleDaysKind) Decode(raw any) (*Decoded, *FieldError) {
	decoded, problem := k.Kind.Decode(raw)
	if problem == nil {
		return decoded, nil
	}
	if _, few := Number(0, 14).Decode(raw); few == nil {
		return nil, invalid("must be at least 15: the directory renews the time of the last logon after up to " +
			"14 days. GET /api/ADUser/{UserName}/LastLogon asks every domain controller for the exact time")
	}
	return nil, problem
}

// staleReasons are the reasons why an account counts as unused.
var staleReasons = []string{"unused", "neverUsed"}

// StaleAccount is the record of an account that has not been used for a long time.
var StaleAccount = &Shape{Name: "StaleAccount", Fields: []Field{
	{Name: "guid", Type: GUIDField},
	{Name: "class", Doc: "Object class in the directory."},
	{Name: "name"},
	{Name: "samName", Attribute: "sAMAccountName"},
	{Name: "distinguishedName"},
	{Name: "enabled", Type: BoolField},
	{Name: "reason",
		Doc: "Reason why the account counts as unused: unused if its last logon was too long ago, neverUsed if it has never logged on.", Enum: staleReasons},
	{Name: "since", Type: TimeField,
		Doc: "Time of the last logon, or of the creation if there was no logon. The actual last logon can be up to 14 days later."},
	{Name: "created", Type: TimeField, Null: true},
}}
