package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"adgateway/ps"
)

// Probe is one row of the table: a script with its arguments, or a measurement.
type Probe struct {
	ID    string
	Facts []string // references to the collection of facts about Windows; "#n" is an open question
	About string

	Script string
	Lane   ps.Lane
	Args   func(t target) ps.Args // returns the arguments in addition to the server
	// skip returns the reason why the probe cannot run at the target, or "" if it can. It may be nil.
	skip func(t target) string

	// IfDiffers describes what to change if a result is not as expected. IfFactDiffers contains
	// advice for single facts. Measurements have none.
	IfDiffers     string
	IfFactDiffers map[string]string

	figures bool                                                     // results are measurements
	measure func(ctx context.Context, r *run) ([]Observation, error) // instead of a script
}

// target describes where a run works.
type target struct {
	base         string // OU in which the probes create objects
	password     string // for a user created by a probe
	zone         string
	reverseTaken bool // the network of the probes already has a zone
}

// Probes returns all probes in the order in which they run.
func Probes() []Probe {
	all := []Probe{
		{ID: "start", Facts: []string{"A41", "#8"}, About: "how long a session takes to start, module and all", figures: true, measure: measureStart},
		{ID: "memory", Facts: []string{"A54", "#8"}, About: "how a session grows with its requests", figures: true, measure: measureMemory},
		{ID: "calls", Facts: []string{"#8"}, About: "how long one read and one write of a user take", figures: true, measure: measureCalls},
		{ID: "json", Facts: []string{"B28", "#8"}, About: "what the records of a long list cost",
			Script: "Test-GatewayJson", Lane: ps.Directory, figures: true,
			Args: func(target) ps.Args { return ps.Args{"Count": ps.Int(10000), "Fact": ps.Text("10,000 records")} }},
		{ID: "tsuserex", Facts: []string{"F4", "#2"}, About: "whether this edition has the extension for Remote Desktop settings",
			figures: true, measure: measureExtension},
	}
	return slices.Concat(all, lineProbes(), directoryProbes(), rightsProbes(), dnsProbes())
}

// lineProbes send texts that an encoding, a buffer or a line ending on the data line could corrupt.
func lineProbes() []Probe {
	var all []Probe
	for _, c := range []struct{ id, fact, text string }{
		{"line-letters", "letters of many languages, controls, quotes", strings.Repeat("Aä€日😀\t\x01'\"`$(1)\u2019 ", 20)},
		{"line-1k", "1,000 characters", strings.Repeat("0123456789", 100)},
		{"line-64k", "65,000 characters", strings.Repeat("0123456789", 6500)},
		{"line-700k", "700,000 characters", strings.Repeat("0123456789", 70000)},
	} {
		all = append(all, Probe{
			ID: c.id, Facts: []string{"A48", "#1"}, About: "whether a data line arrives whole",
			Script: "Test-GatewayDataLine", Lane: ps.Directory,
			Args: func(target) ps.Args { return ps.Args{"Text": ps.Text(c.text), "Fact": ps.Text(c.fact)} },
			IfDiffers: "Values would arrive changed: do not use this PowerShell; set powershell.path to PowerShell " +
				"7, and report the build of Windows.",
		})
	}
	return all
}

// reportMapping is the advice for differences that affect only the table of errors.
const reportMapping = "Answers have another status or text, or 502 with the number: report what was " +
	"found, so that the gateway's table of errors gets a row for it."

func directoryProbes() []Probe {
	row := func(id, script, about, ifDiffers string, facts ...string) Probe {
		return Probe{ID: id, Facts: facts, About: about, Script: script, Lane: ps.Directory, Args: inOU,
			IfDiffers: ifDiffers}
	}
	protection := row("half-protection", "Test-GatewayHalfProtection", "what lifts half of a protection",
		"Removing OUs that have only their own half of a protection fails or leaves it: use Force=true, or "+
			"complete the protection in the console first; report what was found.",
		"E37", "E38", "E41")
	protection.IfFactDiffers = map[string]string{
		"access list of a protected OU, given to another": "The other results of this probe say nothing: the account may not change access lists (WD), or the module writes them otherwise.",
		"lifting half of a protection":                    "The module has another rule than facts E38: report what was found.",
	}
	return []Probe{
		{ID: "controllers", Facts: []string{"G13"}, About: "whether the module lists the same domain controllers as their accounts", Script: "Test-GatewayControllers", Lane: ps.Directory,
			Args:      func(target) ps.Args { return ps.Args{} },
			IfDiffers: "The gateway uses the accounts and is not affected. Remove the accounts of controllers that are gone (ntdsutil, metadata cleanup), or name the good ones in servers.controllers."},
		{ID: "connections", Facts: []string{"D14"}, About: "whether the sessions of the pool stay below the limit of connections of the web service",
			measure: tryConnections,
			IfDiffers: "Set pool.directorySessions to fewer sessions, or raise MaxConnectionsPerUser in Microsoft.ActiveDirectory.WebServices.exe.config on the domain controllers. " +
				"The gateway answers such requests with 503."},
		row("userParameters", "Test-GatewayUserParameters", "how userParameters gets to the directory and back",
			"Remote Desktop fields could be damaged in reads or writes: do not grant the fields until it is corrected; report what was found.", "F20", "#2"),
		row("remote-desktop", "Test-GatewayRemoteDesktop", "what Windows itself reads of the Remote Desktop fields",
			"Windows would read other Remote Desktop values than were written. Do not use these fields until that is corrected, and report the findings.", "F2", "F4", "F11", "#2"),
		row("groups", "Test-GatewayGroupRules", "what groups refuse, and with which error", reportMapping, "E31", "E35", "#5"),
		row("protection", "Test-GatewayProtection", "what protection from accidental deletion stops",
			"The gateway checks and lifts protections itself, so its answers stay right; report what was found.", "E40", "E43", "X6", "#5", "#7"),
		protection,
		row("children", "Test-GatewayChildren", "removing and moving what has something below it", reportMapping, "E45", "E50", "#5"),
		row("enabling", "Test-GatewayEnabling", "accounts without a password",
			"An account could be enabled without a password: give every new user one; report what was found.", "H4", "#6"),
		row("slashes", "Test-GatewayPrincipalGroups", "Get-ADPrincipalGroupMembership and names with a slash", "The gateway does not use this cmdlet and is not affected.", "E22", "#10"),
		row("reading", "Test-GatewayReading", "which names are the same, and how values look",
			"Names could be taken for free or values look otherwise in answers: report what was found.", "B21", "B26", "H21"),
		row("atomicity", "Test-GatewayAtomicity", "whether a change of several attributes is made wholly or not at all",
			"A refused change can leave part of itself behind while the answer says that nothing was changed: change one field a request until it is corrected, and report what was found.",
			"E6", "#5"),
		row("computer-names", "Test-GatewayComputerNames", "what becomes of a computer's names in one write",
			"Renaming a computer gives it other names of services than the answer says: check them with 'setspn -L NAME' after a rename; report what was found.", "E45", "#5"),
		row("errors", "Test-GatewayErrorIds", "whether errors have the ids that the gateway maps", reportMapping, "D.1", "#11"),
	}
}

func inOU(t target) ps.Args { return ps.Args{"Base": ps.Text(t.base), "Prefix": ps.Text(Prefix)} }

// rightsProbes test the rights of the account that runs the doctor.
func rightsProbes() []Probe {
	return []Probe{{
		ID: "rights", Facts: []string{"E39"}, About: "whether this account may do what requests do, in the scratch OU", Script: "Test-GatewayExercise", Lane: ps.Directory,
		Args: func(t target) ps.Args {
			args := inOU(t)
			args["Password"] = ps.Secret(t.password)
			return args
		},
		IfDiffers: "If the gateway should do this, grant the right ('gateway/manual/reference/scopes.md' has the rights); it only says something about the service if the doctor runs as its account.",
		IfFactDiffers: map[string]string{
			"protect an OU":                      "Grant the right to change access lists (WD) on OUs and on their parents ('gateway/manual/reference/scopes.md').",
			"write its userParameters over LDAP": "Grant write on userParameters, and open TCP 389 to the domain controllers.",
			"reset its password":                 "Grant 'Reset Password', or the password policy of the domain asks for more than 30 characters of all kinds.",
		},
	}}
}

func dnsProbes() []Probe {
	zone := func(t target) ps.Args { return ps.Args{"ZoneName": ps.Text(t.zone), "Prefix": ps.Text(Prefix)} }
	return []Probe{
		{ID: "cnames", Facts: []string{"D.3", "E57", "E58", "X10", "#3"}, About: "which error each misplaced CNAME has",
			Script: "Test-GatewayCNameRules", Lane: ps.DNS, Args: zone, IfDiffers: reportMapping},
		{ID: "targets", Facts: []string{"E53", "#4"}, About: "how the target of a CNAME is completed",
			Script: "Test-GatewayTargets", Lane: ps.DNS, Args: zone, IfDiffers: "Give targets with all their labels; report what was found."},
		{ID: "records", Facts: []string{"E53", "E54", "E55", "E56", "E61"}, About: "how records come back, and whether the removal of one spares its siblings",
			Script: "Test-GatewayRecords", Lane: ps.DNS,
			Args: func(t target) ps.Args {
				args := zone(t)
				args["Now"] = ps.Int(ticks(time.Now()))
				return args
			},
			IfDiffers: "Records would have other names in answers, or would not be found: report what was found.",
			IfFactDiffers: map[string]string{
				"time stamp of a record that ages":                     "The field timestamp is off by the hours named, unless the clocks of this computer and of the DNS server are: report what was found.",
				"two addresses of a name, one removed as it was added": "Undoing a failed creation could remove other records of the name: do not create CNAMEs with the gateway until it is corrected; report what was found.",
			}},
		{ID: "networks", Facts: []string{"E71", "#4"}, About: "which zone a network with host bits gets",
			Script: "Test-GatewayNetworkIds", Lane: ps.DNS,
			Args: func(target) ps.Args {
				return ps.Args{"NetworkId": ps.Text(networkID), "ReverseZone": ps.Text(reverseZone)}
			},
			IfDiffers: "The gateway clears host bits itself and is not affected.",
			skip: func(t target) string {
				if t.reverseTaken {
					return "the server has a zone " + reverseZone + " already, which stays as it is"
				}
				return ""
			}},
	}
}

// ticks returns a time as DateTime.Ticks in UTC.
func ticks(t time.Time) int64 {
	const ticksTo1970, ticksPerSecond = 621355968000000000, 10_000_000
	return t.Unix()*ticksPerSecond + int64(t.Nanosecond()/100) + ticksTo1970
}
