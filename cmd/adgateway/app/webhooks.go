package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adgateway/gateway"
	"adgateway/gateway/config"
	"adgateway/gateway/webhooks"
)

// openWebhooks prepares the webhooks of the settings. It returns nil if there are none.
func openWebhooks(ctx context.Context, o Options, s *kept) (*webhooks.Webhooks, error) {
	if s == nil || len(o.Settings.Events.Webhooks) == 0 {
		return nil, nil
	}
	options := webhooks.Options{Store: s.store, History: s.past, Log: logTo(o.Log, o.Event)}
	for _, w := range o.Settings.Events.Webhooks {
		options.Targets = append(options.Targets, webhookTarget(w))
	}
	return webhooks.Open(ctx, options)
}

func webhookTarget(w config.Webhook) webhooks.Target {
	target := webhooks.Target{Name: w.Name, URL: w.URL, SecretFile: w.SecretFile, CAFile: w.CAFile}
	for _, name := range w.Types {
		target.Types = append(target.Types, webhooks.Type(name))
	}
	return target
}

// ReachWebhook connects to the receiver of a webhook in the
// same way as the gateway, without sending anything.
func ReachWebhook(ctx context.Context, w config.Webhook) error {
	return webhooks.Reach(ctx, webhookTarget(w))
}

// sendWebhooks sends until ctx ends.
func (s *Stack) sendWebhooks(ctx context.Context) {
	if s.webhooks != nil {
		s.webhooks.Run(ctx)
	}
}

// webhookStatus returns the state of the webhooks.
func (s *Stack) webhookStatus() []webhooks.Status {
	if s.webhooks == nil {
		return nil
	}
	return s.webhooks.Status()
}

// webhookTries is the number of failed attempts at a message after which the webhook needs attention. A mere
// restart of the receiver causes fewer failures.
const webhookTries = 3

// webhookChecks is the readiness check of the webhooks. Their failures never stop requests.
func (s *Stack) webhookChecks() []gateway.Check {
	all := s.webhookStatus()
	if all == nil {
		return nil
	}
	var wrong []string
	for _, status := range all {
		switch {
		case status.Stopped:
			wrong = append(wrong, fmt.Sprintf(
				"The webhook '%s' was stopped, because its receiver answered 410. Give it another URL, or start the "+
					"gateway once without it.", status.Name))
		case status.Tries >= webhookTries:
			wrong = append(wrong, fmt.Sprintf("The webhook '%s' has not been delivered since %s: %s.", status.Name,
				status.Failing.Format(time.RFC3339), status.Reason))
		case status.Tries == 0 && status.Reason != "":
			wrong = append(wrong, fmt.Sprintf("The webhook '%s' cannot read what it should tell: %s.", status.Name,
				status.Reason))
		}
	}
	return []gateway.Check{{Name: "webhooks", OK: true, Degraded: len(wrong) > 0,
		Reason: strings.Join(wrong, " ")}}
}

// perWebhook emits one value for each webhook.
func perWebhook(read func(*webhooks.Status) value) func(*state, emit) {
	return func(s *state, put emit) {
		for i := range s.hooks {
			put(read(&s.hooks[i]), s.hooks[i].Name)
		}
	}
}

var webhookLabel = []string{"webhook"}

// webhookMetrics are the rows of the table of metrics about webhooks.
var webhookMetrics = []metric{
	{"adgateway_webhook_delivered_total", "Messages that a webhook has taken.", counter, webhookLabel,
		perWebhook(func(s *webhooks.Status) value { return number(s.Delivered) })},
	{"adgateway_webhook_failures_total", "Tries to deliver a message that failed.", counter, webhookLabel,
		perWebhook(func(s *webhooks.Status) value { return number(s.Failed) })},
	{"adgateway_webhook_dropped_total", "Messages that were given up after 24 hours, or were no longer kept when it was their turn.", counter, webhookLabel,
		perWebhook(func(s *webhooks.Status) value { return number(s.Dropped) })},
	{"adgateway_webhook_lag_seconds", "Age of what a webhook is to be told next; 0: nothing waits.", gauge, webhookLabel,
		perWebhook(func(s *webhooks.Status) value {
			if s.Waiting.IsZero() {
				return value{}
			}
			return value{number: max(time.Since(s.Waiting).Seconds(), 0)}
		})},
	{"adgateway_webhook_stopped", "1 when a webhook was stopped by its receiver, with 410, else 0.", gauge, webhookLabel,
		perWebhook(func(s *webhooks.Status) value { return boolean(s.Stopped) })},
}
