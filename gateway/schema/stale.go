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
