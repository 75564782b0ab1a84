package negotiate

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/spnego"
)

// opened is a token without its wrapping.
type opened struct {
	token []byte                // Kerberos context token
	mech  asn1.ObjectIdentifier // mechanism that the client offered; nil if the token was not wrapped
}

var ntlm = []byte("NTLMSSP\x00")

// mechanisms maps OIDs to names for the log.
var mechanisms = map[string]string{
	"1.3.6.1.4.1.311.2.2.10": "NTLM",
	"1.3.6.1.4.1.311.2.2.30": "NEGOEX",
}

// open unwraps a token. A token without a wrapping is returned unchanged.
func open(value []byte) (opened, error) {
	switch {
	case len(value) == 0:
		return opened{}, refuse(Unreadable, "the token is empty")
	case len(value) > MaxToken:
		return opened{}, refuse(TooLong, fmt.Sprintf("the token has more than %d bytes", MaxToken))
	case bytes.HasPrefix(value, ntlm):
		return opened{}, refuse(NotKerberos, "the token is an NTLM token: "+noTicket)
	}
	var mech asn1.ObjectIdentifier
	inner, err := asn1.UnmarshalWithParams(value, &mech, "application,explicit,tag:0")
	switch {
	case err != nil:
		return opened{}, refuse(Unreadable, "the token is not a GSS token: "+err.Error())
	case mech.Equal(gssapi.OIDKRB5.OID()):
		return opened{token: value}, nil
	case !mech.Equal(gssapi.OIDSPNEGO.OID()):
		return opened{}, refuse(NotKerberos, "the token is of the mechanism "+mech.String())
	}
	return unwrap(inner)
}

// noTicket explains why clients send NTLM.
const noTicket = "the client has no ticket for the name in the address, for example because there is no " +
	"SPN for it, or it is an IP address"

// unwrap reads a NegTokenInit. Its token belongs to the first mechanism, which the client prefers.
func unwrap(inner []byte) (opened, error) {
	isInit, read, err := spnego.UnmarshalNegToken(inner)
	if err != nil {
		return opened{}, refuse(Unreadable, "the token is not a NegTokenInit: "+err.Error())
	}
	init, ok := read.(spnego.NegTokenInit)
	if !isInit || !ok {
		return opened{}, refuse(Unreadable, "the token continues a negotiation that this gateway did not begin")
	}
	if len(init.MechTypes) == 0 {
		return opened{}, refuse(Unreadable, "the token offers no mechanism")
	}
	first := init.MechTypes[0]
	if !first.Equal(gssapi.OIDKRB5.OID()) && !first.Equal(gssapi.OIDMSLegacyKRB5.OID()) {
		name := mechanisms[first.String()]
		if name == "" {
			name = first.String()
		}
		return opened{}, refuse(NotKerberos, "the client prefers "+name+": "+noTicket)
	}
	switch token := init.MechTokenBytes; {
	case bytes.HasPrefix(token, ntlm):
		return opened{}, refuse(NotKerberos, "the token is an NTLM token: "+noTicket)
	case len(token) == 0:
		return opened{}, refuse(NotKerberos, "the client offers Kerberos without a ticket")
	default:
		return opened{token: token, mech: first}, nil
	}
}

// reply wraps the reply of the mechanism if the token was wrapped.
func (o opened) reply(inner []byte) ([]byte, error) {
	if o.mech == nil {
		return inner, nil
	}
	done := spnego.NegTokenResp{
		NegState:      asn1.Enumerated(spnego.NegStateAcceptCompleted),
		SupportedMech: o.mech, ResponseToken: inner,
	}
	wrapped, err := done.Marshal()
	if err != nil {
		return nil, errors.Join(errCheck, err)
	}
	return wrapped, nil
}

// Kinds of Kerberos context tokens (RFC 4121, 4.1).
var (
	apReq = []byte{1, 0}
	apRep = []byte{2, 0}
)

// unframe returns the AP-REQ of a context token.
func unframe(token []byte) ([]byte, error) {
	var mech asn1.ObjectIdentifier
	rest, err := asn1.UnmarshalWithParams(token, &mech, "application,explicit,tag:0")
	switch {
	case err != nil:
		return nil, refuse(Unreadable, "the context token cannot be read: "+err.Error())
	case !mech.Equal(gssapi.OIDKRB5.OID()):
		return nil, refuse(NotKerberos, "the context token is of the mechanism "+mech.String())
	case !bytes.HasPrefix(rest, apReq):
		return nil, refuse(Unreadable, "the context token does not begin with a ticket")
	}
	return rest[len(apReq):], nil
}

// frame makes a context token from an AP-REP.
func frame(message []byte) []byte {
	mech, _ := asn1.Marshal(gssapi.OIDKRB5.OID()) // it is a valid OID
	return asn1tools.AddASNAppTag(append(append(mech, apRep...), message...), 0)
}
