package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// slowModel is a model at a vendor's address that writes each answer piece by piece, as its test lets it.
type slowModel struct {
	*httptest.Server
	pieces chan string // of the answer that is being written; "": it ends, and "!" breaks the connection
	first  chan time.Time
}

// newSlowModel starts one. It is asked in OpenAI's older format, which most servers speak.
func newSlowModel(t *testing.T) *slowModel {
	m := &slowModel{pieces: make(chan string), first: make(chan time.Time, 100)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.answer(w, r) }))
	t.Cleanup(m.CloseClientConnections)
	return m
}

// env are the settings with which gatehouse asks it.
func (m *slowModel) env(more ...string) []string {
	return append([]string{
		"GATEHOUSE_AGENT=llm", "GATEHOUSE_MODEL=openai:slow", "OPENAI_API_KEY=sk-test",
		"OPENAI_BASE_URL=" + m.URL + "/v1",
	}, more...)
}

func (m *slowModel) answer(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, finish any) {
		data, _ := json.Marshal(map[string]any{
			"id": "c", "object": "chat.completion.chunk", "model": "slow",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
	}
	for n := 0; ; n++ {
		select {
		case piece := <-m.pieces:
			switch piece {
			case "":
				chunk(map[string]any{}, "stop")
				fmt.Fprint(w, "data: [DONE]\n\n")
				return
			case "!":
				panic(http.ErrAbortHandler)
			}
			chunk(map[string]any{"content": piece}, nil)
			if n == 0 {
				m.first <- time.Now()
			}
		case <-r.Context().Done():
			return
		}
	}
}
