package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"adgateway/gateway/call"
	"adgateway/gateway/change"
	"adgateway/gateway/jobs"
	"adgateway/gateway/jobs/joblist"
	"adgateway/gateway/ops"
	"adgateway/gateway/problem"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
)

// The list of a job by rule is written by the gateway. It reads the accounts that the rule finds within the
// caller's rights, and creates an item for each account and action. After that the job is like any other, and
// its items do not change.

// staleKind describes a class of accounts: the row that lists unused accounts, the rows that change an
// account, by action, and the parameter that names the account in these rows.
type staleKind struct {
	list, target string
	rows         map[string]string
}

var (
	staleComputers = staleKind{"computer.listStale", "ADComputerName", map[string]string{
		ops.StaleDisable: "computer.disable", ops.StaleMove: "computer.move", ops.StaleRemove: "computer.delete",
	}}
	staleUsers = staleKind{"user.listStale", "Username", map[string]string{
		ops.StaleDisable: "user.disable", ops.StaleMove: "user.update", ops.StaleRemove: "user.delete",
	}}
)

// The columns of a result that explain why the rule found an account.
const (
	accountColumn = "Account"
	reasonColumn  = "Reason"
	sinceColumn   = "Since"
)

// staleAccount is an account as shown in the list.
type staleAccount struct {
	GUID, SamName, Reason, Since string
	Enabled                      bool
}

// handler returns the handler of a row that submits a job for unused accounts.
func (k staleKind) handler(s *Service) call.Handler {
	return func(ctx context.Context, a call.Accepted) (call.Answer, error) {
		actions := strings.Split(a.Bound.Text(ops.StaleAction), ",")
		for _, action := range actions { // before anything is read
			if err := call.AuthorizeRow(a.Principal, ops.Find(s.Operations, k.rows[action])); err != nil {
				return call.Answer{}, err
			}
		}
		found, err := k.accounts(ctx, s, a)
		if err != nil {
			return call.Answer{}, err
		}
		list := k.listOf(found, actions, a.Bound.Text(ops.StaleTarget))
		if most := s.Lists.MaxItems; len(list.Items) > most {
			return call.Answer{}, problem.New(schema.TooMany,
				"%d accounts match, which makes %d items; a job has at most %d (jobs.maxItems). "+
					"Narrow the rule with OUPath, or exclude some.", len(found), len(list.Items), most)
		}
		sub := &submission{s: s, a: a, list: list}
		if err := sub.bind(); err != nil {
			return call.Answer{}, err
		}
		submitted := sub.submission()
		submitted.Job.Mode = jobstate.Run
		if a.DryRun() {
			submitted.Job.Mode = jobstate.DryRun
		}
		within := change.BoundsOf(a.Principal.Limits).Digest()
		for i := range submitted.Specs {
			account := &found[list.Items[i].Line-1]
			submitted.Specs[i].Found = &jobs.Found{
				Account: account.SamName, Reason: account.Reason, Since: account.Since, Within: within,
			}
		}
		return s.add(ctx, a, submitted)
	}
}

// accounts returns the accounts that the rule of a call finds and that still need an action.
func (k staleKind) accounts(ctx context.Context, s *Service, a call.Accepted) ([]staleAccount, error) {
	given := ops.Given{}
	for i := range ops.StaleRule {
		if name := ops.StaleRule[i].Name; a.Bound.Has(name) {
			given[name] = a.Bound.Text(name)
		}
	}
	target := a.Bound.Text(ops.StaleTarget)
	if target != "" { // accounts in the target OU are not moved again
		var excluded []string
		if a.Bound.Has(ops.ExcludeOU) {
			excluded = schema.Texts(a.Bound.Text(ops.ExcludeOU)).List()
		}
		given[ops.ExcludeOU] = schema.TextsOf(append(excluded, target))
	}
	answer, err := s.Read(ctx, a.As.Part(a.ID, ops.Find(s.Operations, k.list), given))
	if err != nil {
		return nil, atTarget(err, a)
	}
	var all []staleAccount
	if err := json.Unmarshal(slices.Concat([]byte("["), answer.Records, []byte("]")), &all); err != nil {
		return nil, problem.Internal(fmt.Errorf("records of %s: %w", k.list, err))
	}
	if a.Bound.Text(ops.StaleAction) == ops.StaleDisable {
		all = slices.DeleteFunc(all, func(account staleAccount) bool { return !account.Enabled })
	}
	return all, nil
}

// atTarget turns an error about the list into one about the target of a move, if the target is the
// only OU that the list leaves out.
func atTarget(err error, a call.Accepted) error {
	if a.Bound.Has(ops.StaleTarget) && !a.Bound.Has(ops.ExcludeOU) {
		failed := problem.Of(err)
		for i := range failed.Details {
			if failed.Details[i].Field == ops.ExcludeOU {
				failed.Details[i].Field = ops.StaleTarget
			}
		}
	}
	return err
}

// listOf returns the list of a job, which has one item per account and action, in order.
func (k staleKind) listOf(found []staleAccount, actions []string, target string) *joblist.List {
	list := &joblist.List{Format: joblist.CSV, Header: []string{
		"Operation", k.target, "Id", "After", accountColumn, reasonColumn, sinceColumn,
	}}
	if target != "" {
		list.Header = append(list.Header, "OUPath")
	}
	for i, account := range found {
		before := ""
		for _, action := range []string{ops.StaleDisable, ops.StaleMove, ops.StaleRemove} {
			if !slices.Contains(actions, action) {
				continue
			}
			item := joblist.Item{
				Line: i + 1, ID: fmt.Sprintf("%d-%s", i+1, action), Operation: k.rows[action],
				Parameters: map[string]any{k.target: account.GUID},
			}
			if action == ops.StaleMove {
				item.Parameters["OUPath"] = target
			}
			if before != "" {
				item.After = []string{before}
			}
			before = item.ID
			list.Items = append(list.Items, item)
		}
	}
	return list
}
