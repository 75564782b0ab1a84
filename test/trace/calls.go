package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// secret is the token of the sandbox's only client.
const secret = "token-of-the-trace"

// A client calls a sandbox.
type client struct{ url string }

// call makes a call and decodes the objects in its answer. If body is nil, the call has no body.
func (c client) call(
	ctx context.Context, method, target string, body any, headers map[string]string,
) ([]map[string]any, error) {
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+target, &text)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Auth-Token", "Bearer "+secret)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %s\n%s", method, target, response.Status, answer)
	}
	var envelope struct {
		Result []map[string]any `json:"result"`
	}
	return envelope.Result, json.Unmarshal(answer, &envelope)
}

// ready waits until both lanes have a session.
func (c client) ready(ctx context.Context) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil || response.StatusCode == http.StatusOK {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits between two progress queries, so that a run makes only a few of them.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(500 * time.Millisecond):
		return nil
	}
}

// get reads one user.
func get(ctx context.Context, c client) error {
	for range calls {
		if _, err := c.call(ctx, http.MethodGet, "/api/ADUser/lweber/Details", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// put changes one user.
func put(ctx context.Context, c client) error {
	for i := range calls {
		change := map[string]any{"Office": strconv.Itoa(i)}
		key := map[string]string{"Idempotency-Key": "key-of-change-" + strconv.Itoa(i)}
		if _, err := c.call(ctx, http.MethodPut, "/api/ADUser/lweber", change, key); err != nil {
			return err
		}
	}
	return nil
}

// job runs one job. Each of its items changes a different user.
func job(ctx context.Context, c client) error {
	users, err := c.call(ctx, http.MethodGet, "/api/ADUser/ListUsers/All?Limit="+strconv.Itoa(calls), nil, nil)
	if err != nil {
		return err
	}
	var items []any
	for i, user := range users {
		parameters := map[string]any{"Username": user["username"], "Office": strconv.Itoa(i)}
		items = append(items, map[string]any{
			"id": strconv.Itoa(i), "operation": "user.update", "parameters": parameters,
		})
	}
	jobs, err := c.call(ctx, http.MethodPost, "/api/Jobs", map[string]any{"items": items}, nil)
	if err != nil {
		return err
	}
	for jobs[0]["ended"] == nil {
		if err := pause(ctx); err != nil {
			return err
		}
		if jobs, err = c.call(ctx, http.MethodGet, "/api/Jobs/"+jobs[0]["id"].(string), nil, nil); err != nil {
			return err
		}
	}
	if jobs[0]["state"] != "done" || len(items) != calls {
		return fmt.Errorf("the job is not as it should be: %v", jobs[0])
	}
	return nil
}
