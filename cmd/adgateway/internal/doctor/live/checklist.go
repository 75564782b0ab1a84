package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Item is a test that requires a real Windows or a real domain.
type Item struct {
	Area   string
	Do     string // instruction
	Expect string // expected result
	Probes []string
	Checks []string // checks of the doctor, by name; together with probes they answer the item without a person
	Writes bool     // Do changes something, so a run never does it
}

// Entry is an item of the checklist with its result.
type Entry struct {
	Number int    `json:"number"`
	Area   string `json:"area"`
	Item   string `json:"item"`
	Expect string `json:"expect"`
	Status Status `json:"status"`
	Found  string `json:"found,omitempty"`
}

// Open is the status of an item without an answer.
const Open Status = "open"

// Checklist returns the checklist. The number of an item is its position, starting at 1.
func Checklist() []Item {
	return slices.Concat(hostItems(), domainItems(), secretItems(), peopleItems())
}

func hostItems() []Item {
	return []Item{
		{Area: "installing", Do: "Install, repair, upgrade and uninstall both MSIs on each version of Windows in use, also by group policy.",
			Expect: "Exit codes are right, PATH is set in new sessions, a failed upgrade leaves the old version running.", Writes: true},
		{Area: "service", Do: "Run `sc.exe qc adgateway`, `sc.exe qfailure adgateway`, `sc.exe qfailureflag adgateway`.",
			Expect: "A quoted path, delayed start, three restarts.", Checks: []string{"service"}},
		{Area: "service", Do: "End the process of the service with `Stop-Process -Force`.",
			Expect: "Windows starts it again after 5 s; no PowerShell is left.", Writes: true},
		{Area: "managed account", Do: "Run `gpupdate /force`, then restart the service.",
			Expect: "*Log on as a service* is still there.", Writes: true},
		{Area: "managed account", Do: "Rename the account in the domain, and run `adgateway config check` and `adgateway token list` as an administrator.",
			Expect: "Both work, and say that the account cannot be looked up.", Writes: true},
		{Area: "settings", Do: "Save the settings with Notepad as UTF-8 with BOM and as UTF-16, and run `adgateway config check`.",
			Expect: "They are read.", Writes: true},
		{Area: "console", Do: "Run `chcp 65001`, then `adgateway help` and a command with a name in Cyrillic, in Windows PowerShell and in `cmd`.",
			Expect: "The letters are right."},
		{Area: "PowerShell", Do: "Start sessions in Windows PowerShell 5.1 and in 7 (`powershell.path`).",
			Expect: "The doctor passes `data-channel`.", Checks: []string{"powershell", "language-mode", "data-channel"}},
		{Area: "PowerShell", Do: "Send data lines of each length.", Expect: "They arrive whole.", Probes: []string{"line-letters", "line-1k", "line-64k", "line-700k"}},
		{Area: "certificates", Do: "Run `adgateway tls request`, `adgateway tls import`, and renew by auto-enrolment.",
			Expect: "The gateway uses the new certificate without a restart.", Checks: []string{"certificate"}, Writes: true},
		{Area: "signatures", Do: "Run `Get-AuthenticodeSignature adgateway.exe`; start under AllSigned and App Control.",
			Expect: "The signature is valid, and sessions start.", Checks: []string{"execution-policy"}},
		{Area: "endpoint protection", Do: "Make 100 calls with the rules in block mode.", Expect: "There is no event 1121."},
		{Area: "event log", Do: "Open the entries of the source in the event viewer.",
			Expect: "No entry says that its description cannot be found."},
		{Area: "files", Do: "Compare the access rights of the data folder after the first start.",
			Expect: "Only the service, SYSTEM and administrators may read it.", Checks: []string{"files"}},
		{Area: "store", Do: "Back up, and restore on this host and on another one.", Expect: "[Backup](../backup.md) says what happens.", Writes: true},
		{Area: "host of a node", Do: "Run `adgateway-engine doctor`, as an administrator and without.",
			Expect: "It reports write cache, exclusions, Windows Search and the power plan as they are set."},
	}
}

func domainItems() []Item {
	return []Item{
		{Area: "controllers", Do: "Stop the service ADWS of one controller.", Expect: "Calls go to another one within seconds.",
			Checks: []string{"domain-controllers", "adws"}, Writes: true},
		{Area: "controllers", Do: "List in all sessions at once.", Expect: "No connection is refused.", Probes: []string{"controllers", "connections"}},
		{Area: "rights", Do: "Run `Set-AdgatewayAccess.ps1 -WhatIf` under 5.1 and 7, and the doctor as the service.",
			Expect: "The doctor passes `rights`.", Checks: []string{"rights", "recycle-bin", "dns-rights"}, Probes: []string{"rights"}},
		{Area: "cmdlets", Do: "Compare errors, records and rules of the modules with the sandbox.",
			Expect: "Every probe is as expected.", Probes: []string{"*"}},
		{Area: "Remote Desktop", Do: "Change a profile path, and look at it in Active Directory Users and Computers.",
			Expect: "It is the same there.", Probes: []string{"userParameters", "remote-desktop"}, Writes: true},
		{Area: "DNS", Do: "Change the target and the time to live of a CNAME record.", Expect: "200, and DNS answers with both.",
			Probes: []string{"cnames", "targets", "records"}, Writes: true},
		{Area: "search", Do: "Page through a list of more than 10,000 users with a filter, while some are created.",
			Expect: "Each user is there once, and no page takes longer than the first."},
		{Area: "search", Do: "Compare a search by part of a name, and a list with `passwordExpired eq true`, with `Get-ADUser -LDAPFilter '(anr=...)'` and `Search-ADAccount -PasswordExpired`.",
			Expect: "The same users."},
		{Area: "photo", Do: "Set the photo of a user, undo it, and look in Outlook or Teams.", Expect: "The old photo is back, byte for byte.", Writes: true},
		{Area: "cluster", Do: "Share the key by a group (`cluster init`), and start the other hosts.",
			Expect: "They unprotect it; it needs the KDS root key.", Checks: []string{"cluster"}, Writes: true},
	}
}

func secretItems() []Item {
	return []Item{
		{Area: "LAPS", Do: "Reveal a password that is in clear, one that is encrypted and one of the older LAPS, as an account that may decrypt it and as one that may not.",
			Expect: "The password with its source; 403 that names who may decrypt it."},
		{Area: "LAPS", Do: "Let a password expire, and run `Invoke-LapsPolicyProcessing` on the computer.", Expect: "It has another password.", Writes: true},
		{Area: "BitLocker", Do: "Find a key by the first eight characters on a recovery screen, and reveal it.",
			Expect: "One key of the right computer; its digits unlock the drive."},
		{Area: "lock-out", Do: "Lock an account out from a computer, and open the person's page, with the service in *Event Log Readers* and without.",
			Expect: "The name of the computer (event 4740); without the right, the counts of the controllers and what could not be asked.", Writes: true},
	}
}

func peopleItems() []Item {
	return []Item{
		{Area: "sign-in", Do: "Sign in by the form with a right, a wrong and an expired password.",
			Expect: "The page says so; badPwdCount rises by one for the wrong one."},
		{Area: "sign-in", Do: "Sign in as a member of *Protected Users*, and as somebody with a smart card only.",
			Expect: "The first works by the form, the second by the ticket only."},
		{Area: "sign-in", Do: "Remove a person who is signed in from the role group; disable another one.",
			Expect: "Both lose their rights after `signIn.recheck`.", Writes: true},
		{Area: "single sign-on", Do: "Open the console by its full name in Edge, Chrome and Firefox, with the group policy.",
			Expect: "The person is signed in without a question, also over HTTP/2.", Checks: []string{"service-names", "clock", "browsers"}},
		{Area: "single sign-on", Do: "Open it by its IP address, and by a name without an SPN.",
			Expect: "The form, with the sentence about NTLM; the log names the cause."},
		{Area: "single sign-on", Do: "Open it through a proxy that ends TLS, with `signIn.bindings: required` and with `off`.",
			Expect: "Refused (0x80090346 in the log), then signed in."},
		{Area: "single sign-on", Do: "Set the clock of a client six minutes ahead. Send one ticket twice, such as by a proxy for developers.",
			Expect: "Both are 401; the log has 0x80090324 and a code for the second use.", Writes: true},
		{Area: "single sign-on", Do: "Sign in as an account of a trusted domain and of another forest, with `signIn.domains` and without.",
			Expect: "Only the named domains; groups of both domains count."},
		{Area: "single sign-on", Do: "Disable, and lock out, a person who has a ticket.", Expect: "401 with the sentence about the account.", Writes: true},
		{Area: "scripts", Do: "Run `Invoke-RestMethod -UseDefaultCredentials` and `Connect-AdGateway` without a token, in 5.1 and in 7.",
			Expect: "The answer names the person."},
		{Area: "manual", Do: "Run the blocks for Windows of the pages account, backup, certificate, classic, cluster, install, network, recipe-service-account, " +
			"single-sign-on, troubleshooting and upgrade, and of the README.", Expect: "They do what they say.", Writes: true},
		{Area: "module", Do: "Run the examples of `Get-Help` of ten functions in 5.1 and in 7.", Expect: "They do what they say."},
	}
}

// Answers are a person's findings, by item number.
type Answers map[int]Entry

var answer = regexp.MustCompile(`^([0-9]+)\s+(ok|differs|skipped)(?:\s+(.*))?$`)

// ReadAnswers reads lines such as "14 differs no restart". It ignores empty lines and lines
// that begin with #. Numbers above items are errors.
func ReadAnswers(from io.Reader, items int) (Answers, error) {
	all := Answers{}
	lines := bufio.NewScanner(from)
	for at := 1; lines.Scan(); at++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		found := answer.FindStringSubmatch(line)
		if found == nil {
			return nil, fmt.Errorf("line %d: write a number, then ok, differs or skipped, then what you saw", at)
		}
		number, err := strconv.Atoi(found[1])
		if err != nil || number < 1 || number > items {
			return nil, fmt.Errorf("line %d: the check list has %d items", at, items)
		}
		all[number] = Entry{Status: Status(found[2]), Found: found[3]}
	}
	return all, lines.Err()
}

// Fill fills in the checklist with the results of the probes and of the doctor's checks. checks maps the name
// of a check to "ok" or to its finding. Fill calls ask, unless it is nil, for each item that neither answers.
func (r *Report) Fill(checks map[string]string, ask func(Entry) (Entry, error)) error {
	r.Checklist = nil
	for i, item := range Checklist() {
		entry := Entry{Number: i + 1, Area: item.Area, Item: item.Do, Expect: item.Expect, Status: Open}
		if status, found := r.result(item, checks); status != "" {
			entry.Status, entry.Found = status, found
		}
		if ask != nil && entry.Status == Open {
			given, err := ask(entry)
			if err != nil {
				return err
			}
			if given.Status != "" {
				entry.Status, entry.Found = given.Status, given.Found
			}
		}
		r.Checklist = append(r.Checklist, entry)
	}
	return nil
}

// result returns the worst finding of an item's probes and checks. The status is empty if there are no
// results, or if all results are in order but a person must check as well.
func (r *Report) result(item Item, checks map[string]string) (Status, string) {
	var bad []string
	seen := 0
	for _, name := range item.Checks {
		if found, ran := checks[name]; ran {
			seen++
			if found != string(AsExpected) {
				bad = append(bad, name+": "+found)
			}
		}
	}
	for _, finding := range r.Findings {
		if !slices.Contains(item.Probes, finding.Probe) && !slices.Contains(item.Probes, "*") {
			continue
		}
		seen++
		for _, o := range finding.Observations {
			if o.Status == Differs || o.Status == Failed {
				bad = append(bad, finding.Probe+": "+o.Fact)
			}
		}
	}
	switch {
	case len(bad) > 0:
		return Differs, strings.Join(bad, "; ")
	case seen == 0 || seen < len(item.Checks)+len(item.Probes) || item.Writes:
		return "", ""
	}
	return AsExpected, ""
}

// Redact replaces names in the report, regardless of case.
func (r *Report) Redact(names map[string]string) error {
	var patterns []string
	folded := map[string]string{}
	for name, by := range names {
		if len(name) > 1 {
			patterns, folded[strings.ToLower(name)] = append(patterns, whole(name)), by
		}
	}
	if len(patterns) == 0 {
		return nil
	}
	slices.SortFunc(patterns, func(a, b string) int { return len(b) - len(a) }) // longest first
	pattern := regexp.MustCompile("(?i)" + strings.Join(patterns, "|"))
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err
	}
	tree = replaced(tree, func(text string) string {
		return pattern.ReplaceAllStringFunc(text, func(name string) string { return folded[strings.ToLower(name)] })
	})
	if text, err = json.Marshal(tree); err != nil {
		return err
	}
	*r = Report{}
	return json.Unmarshal(text, r)
}

// whole returns a pattern that matches a name as a whole word.
func whole(name string) string {
	letters := regexp.MustCompile(`^\w`)
	pattern := regexp.QuoteMeta(name)
	if letters.MatchString(name) {
		pattern = `\b` + pattern
	}
	if last := name[len(name)-1:]; letters.MatchString(last) {
		pattern += `\b`
	}
	return pattern
}

// replaced returns a JSON tree with by applied to its strings. Names of members are unchanged.
func replaced(tree any, by func(string) string) any {
	switch node := tree.(type) {
	case string:
		return by(node)
	case []any:
		for i := range node {
			node[i] = replaced(node[i], by)
		}
	case map[string]any:
		for name := range node {
			node[name] = replaced(node[name], by)
		}
	}
	return tree
}
