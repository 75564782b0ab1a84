package negotiate

import (
	"fmt"
	"io"
	"log"
	"slices"

	"github.com/jcmturner/gokrb5/v8/iana/adtype"
	"github.com/jcmturner/gokrb5/v8/pac"
	"github.com/jcmturner/gokrb5/v8/types"
)

// addAccount adds Active Directory's data about the account of a ticket (MS-PAC). Tickets of other
// authorities contain no such data, or data without the account.
func addAccount(person *Person, data types.AuthorizationData, key types.EncryptionKey) error {
	text, found := findPAC(data)
	if !found {
		return nil
	}
	var p pac.PACType
	if err := p.Unmarshal(text); err != nil {
		return refuse(Invalid, "the account data in the ticket cannot be read: "+err.Error())
	}
	const account = 1 // KERB_VALIDATION_INFO
	if !slices.ContainsFunc(p.Buffers, func(b pac.InfoBuffer) bool { return b.ULType == account }) {
		return nil
	}
	if err := p.ProcessPACInfoBuffers(key, log.New(io.Discard, "", 0)); err != nil {
		return refuse(Invalid, "the account data in the ticket is not valid: "+err.Error())
	}
	info := p.KerbValidationInfo
	domain := info.LogonDomainID.String()
	person.Account = info.EffectiveName.Value
	person.SID = fmt.Sprintf("%s-%d", domain, info.UserID)
	person.Domains = append(person.Domains, info.LogonDomainName.Value)
	person.Groups = []string{}
	add := func(sid string, attributes uint32) {
		const enabled, denyOnly = 0x4, 0x10 // SE_GROUP_ENABLED, SE_GROUP_USE_FOR_DENY_ONLY
		if attributes&enabled != 0 && attributes&denyOnly == 0 {
			person.Groups = append(person.Groups, sid)
		}
	}
	for _, group := range info.GroupIDs {
		add(fmt.Sprintf("%s-%d", domain, group.RelativeID), group.Attributes)
	}
	for _, group := range info.ExtraSIDs {
		add(group.SID.String(), group.Attributes)
	}
	for _, group := range info.ResourceGroupIDs {
		add(fmt.Sprintf("%s-%d", info.ResourceGroupDomainSID.String(), group.RelativeID), group.Attributes)
	}
	return nil
}

// findPAC returns the account data in the authorization data of a ticket.
func findPAC(data types.AuthorizationData) ([]byte, bool) {
	for _, entry := range data {
		if entry.ADType != adtype.ADIfRelevant {
			continue
		}
		var inner types.AuthorizationData
		if inner.Unmarshal(entry.ADData) != nil {
			continue
		}
		for _, one := range inner {
			if one.ADType == adtype.ADWin2KPAC {
				return one.ADData, true
			}
		}
	}
	return nil, false
}
