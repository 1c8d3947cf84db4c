package prompt_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/llm/prompt"
)

// down is a backend that can't be reached.
type down struct{ asked *int }

var errDown = errors.New("no route to host")

func (d down) Fetch(_ context.Context, name, label string) (prompt.Prompt, error) {
	*d.asked++
	return prompt.Prompt{}, prompt.Unavailable(name, label, errDown)
}

func named(name, label, version string) prompt.Prompt {
	return prompt.Prompt{Name: name, Label: label, Version: version, Template: "x"}
}

func TestOnlyABackendThatCanNotBeReachedIsPassedOver(t *testing.T) {
	asked := 0
	broken := down{&asked}
	empty := prompt.NewStatic(time.Time{})
	full := prompt.NewStatic(time.Time{}, named("p", "production", "1"))
	for name, c := range map[string]struct {
		backends []prompt.Backend
		want     core.Category
		warned   bool
	}{
		"the first has it":           {[]prompt.Backend{full, broken}, "", false},
		"the first is down":          {[]prompt.Backend{broken, full}, "", true},
		"two are down":               {[]prompt.Backend{broken, broken, full}, "", true},
		"the first has it no longer": {[]prompt.Backend{empty, full}, core.PromptNotFound, false},
		"down, then not there":       {[]prompt.Backend{broken, empty, full}, core.PromptNotFound, false},
		"all are down":               {[]prompt.Backend{broken, broken}, core.PromptStoreUnavailable, false},
		"there are none":             {nil, core.PromptStoreUnavailable, false},
	} {
		var log bytes.Buffer
		m := prompt.Manager{Backends: c.backends, Log: slog.New(slog.NewTextHandler(&log, nil))}
		p, err := m.Fetch(t.Context(), "p", "")
		if got := core.CategoryOf(err); got != c.want || (p.Version == "1") != (c.want == "") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		var e *prompt.Error
		if err != nil &&
			(!errors.As(err, &e) || e.Name != "p" || e.Label != "production" || e.Description == "" ||
				core.MessageOf(err) == "") {
			t.Errorf("%s: the error carries %+v", name, e)
		}
		if c.want == core.PromptStoreUnavailable && len(c.backends) > 0 && !errors.Is(err, errDown) {
			t.Errorf("%s: the cause is lost: %v", name, err)
		}
		if strings.Contains(log.String(), "no route to host") != c.warned {
			t.Errorf("%s: the log is %q", name, log.String())
		}
	}
	if asked == 0 {
		t.Error("nothing was asked")
	}
}

func TestAGoneCallerIsNotAMissingPrompt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := prompt.Manager{Backends: []prompt.Backend{prompt.NewStatic(time.Time{}, named("p", "", "1"))}}
	if _, err := m.Fetch(ctx, "p", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestLabels(t *testing.T) {
	backend := prompt.NewStatic(time.Time{}, named("a", "production", "1"), named("a", "staging", "2"),
		named("a", "variant", "3"), named("default", "", "4"))
	for _, c := range []struct {
		labels      prompt.Labels
		label, want string
	}{
		{prompt.Labels{}, "", "1"},
		{prompt.Labels{}, "staging", "2"},
		{prompt.Labels{Default: "staging"}, "", "2"},
		{prompt.Labels{Default: "staging", Names: map[string]string{"a": "variant"}}, "", "3"},
		{prompt.Labels{Default: "staging", Names: map[string]string{"a": "variant"}}, "production", "1"},
		{prompt.Labels{Names: map[string]string{"b": "variant"}}, "", "1"},
	} {
		m := prompt.Manager{Backends: []prompt.Backend{backend}, Labels: c.labels}
		if p, err := m.Fetch(t.Context(), "a", c.label); err != nil || p.Version != c.want {
			t.Errorf("%+v, %q: version %s, %v", c.labels, c.label, p.Version, err)
		}
	}
}
