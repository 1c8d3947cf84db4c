package openharness_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/openharness"
	"gatehouse/core"
)

// asking is a store whose approvals are of the question that a card has.
type asking struct {
	openharness.Store
	card core.Card
	err  error
}

func (a asking) LoadApproval(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	stored, err := a.Store.LoadApproval(ctx, id)
	stored.Question = a.card.Question
	if core.CategoryOf(a.err) == core.NotFound {
		err = a.err
	}
	return stored, err
}

// TestRefusedPressesSaySo: a continuation does nothing, and its answer says why.
func TestRefusedPressesSaySo(t *testing.T) {
	repeated := "a request that may succeed later is answered as one to be repeated"
	without := map[string]string{
		"a form of other arguments":       "there is no form for arguments",
		"arguments that can't be changed": "there is no form for arguments",
		"another word":                    "the second step has no word to type",
		"one that can't be looked up":     repeated, "one that can't be stored": repeated,
	}
	adaptertest.RefusedPresses(t, "openharness:local", without, func(t *testing.T, c adaptertest.Refusal) string {
		s := running(t, func(o *openharness.Options) { o.Cards, o.Store = c.Cards(), asking{o.Store, c.Card, c.Err} })
		key := "the old key of many characters"
		if c.Foreign {
			key = "the key of another gatehouse"
		}
		action := map[outbound.Action]string{outbound.ActionReason: "deny", outbound.ActionConfirm: "review"}[c.Action]
		if action == "" {
			action = string(c.Action)
		}
		token := adaptertest.Signer(t, key).Seal("openharness", action, "a1", "0", "openharness:local")
		body := strings.Replace(
			string(message("r1", `"continuation":{"run_id":"run-1","continuation_token":"`+token+`"}`)), `"request":{`,
			`"request":{"extensions":{"dev.gatehouse":{"answer":{"size":"s","count":2}}},`, 1)
		status, answer, err := s.post([]byte(body))
		var said struct {
			Response struct {
				Error struct {
					Code, Message string
					Details       struct{ Cause string }
				}
			}
		}
		if err == nil {
			err = json.Unmarshal(answer, &said)
		}
		if err != nil || status != http.StatusConflict && status != http.StatusBadRequest {
			t.Errorf("answered %d %s %v", status, answer, err)
		}
		// that others were faster is no failure
		cause := map[core.ApprovalState]string{core.Approved: string(core.ApprovalDecided)}[c.Card.State]
		if got := said.Response.Error.Details.Cause; got != cause {
			t.Errorf("the cause is %q, want %q", got, cause)
		}
		return said.Response.Error.Message
	})
}

// TestStoredDecisionsAreRead: decisions of an earlier gatehouse, as it stored them.
func TestStoredDecisionsAreRead(t *testing.T) {
	adaptertest.StoredClicks(t, running(t).Engine, "testdata/stored.json")
}

// TestADecisionOfAnotherApprovalIsNotRead as one of this event's.
func TestADecisionOfAnotherApprovalIsNotRead(t *testing.T) {
	e := core.Event{Body: core.ClickEvent{Approval: "a2"}, Payload: []byte(`{"approval":"a1","choice":"approve"}`)}
	_, err := core.ClickOf(e)
	_, old := running(t).OldClick(e)
	if core.CategoryOf(err) != core.Invalid || core.CategoryOf(old) != core.Invalid {
		t.Errorf("%v, %v", err, old)
	}
}
