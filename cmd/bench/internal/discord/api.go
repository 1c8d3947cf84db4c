package discord

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/wire"
)

// maxStray is how many strays are kept.
const maxStray = 3

var (
	limited = wire.Answer(http.StatusTooManyRequests,
		`{"message":"You are being rate limited.","retry_after":1.0,"global":false}`,
		"Retry-After: 1", "X-RateLimit-Scope: shared")
	nothing = []byte("HTTP/1.1 204 No Content\r\n\r\n")
)

// answer answers a call of the REST API.
func (d *Discord) answer(r *http.Request, body []byte) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/api"), "/v10")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	kind := parts[0]
	if kind == "interactions" || kind == "webhooks" && len(parts) > 2 && strings.HasPrefix(parts[2], pressToken) {
		d.tally.Calls[r.Method+" "+kind]++
		return nothing // of what the bot answers to a press nothing is kept
	}
	if kind == "webhooks" {
		d.tally.Calls[r.Method+" "+kind]++
		return d.webhook(r.Method, parts, body)
	}
	if len(parts) > 2 {
		kind += "/" + parts[2]
	}
	d.tally.Calls[r.Method+" "+kind]++
	ok := func(text string) []byte { return wire.Answer(http.StatusOK, text) }
	switch r.Method + " " + kind {
	case "POST channels/messages":
		return d.post(parts[1], body)
	case "GET channels/messages":
		return ok(d.history(parts[1], r.URL.Query().Get("after")))
	case "PATCH channels/messages":
		return ok(`{"id":"` + parts[len(parts)-1] + `","channel_id":"` + parts[1] + `","author":` + botUser +
			`,"content":"","flags":0,"components":[]}`)
	case "GET channels":
		return ok(channelJSON(parts[1]))
	case "GET gateway":
		return ok(`{"url":"` + d.sockets.URL() +
			`","shards":1,"session_start_limit":{"total":1000,"remaining":999,"reset_after":86400000,` +
			`"max_concurrency":1}}`)
	case "GET users":
		return ok(botUser)
	case "GET guilds":
		return ok("{" + guildFields + "}")
	case "GET guilds/members":
		return ok(botMember)
	case "GET applications":
		return ok(applicationJSON)
	case "GET applications/commands":
		return ok("[]")
	case "POST applications/commands":
		return wire.Answer(http.StatusCreated, fmt.Sprintf(`{"id":"%d"}`, d.newID()))
	case "POST channels/typing":
		return nothing
	}
	return wire.Answer(http.StatusNotFound, `{"message":"404: Not Found","code":0}`)
}

// post takes a message. Of several with the same nonce only the first is posted.
func (d *Discord) post(in string, body []byte) []byte {
	if d.limits() {
		return limited
	}
	var m struct {
		Content    string          `json:"content"`
		Flags      int             `json:"flags"`
		Nonce      json.RawMessage `json:"nonce"`
		Enforce    bool            `json:"enforce_nonce"`
		Components json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return wire.Answer(http.StatusBadRequest, `{"message":"The request body contains invalid JSON.","code":50109}`)
	}
	if made := d.made(string(m.Nonce)); made != nil && m.Enforce {
		return made
	}
	id := d.newID()
	n, marked := ledger.Marked(body)
	button := ""
	if marked && d.asks(n) {
		button = approval(m.Components)
	}
	switch {
	case !marked && d.plan.Mix: // the steps of a slow turn
	case !marked || d.place(n) != in:
		d.stray(body)
	case button != "":
		d.pressSoon(in, id, button)
	case !d.ledger.Answered(n):
		d.stray(body)
	}
	if len(m.Components) == 0 {
		m.Components = json.RawMessage("[]")
	}
	content, _ := json.Marshal(m.Content) // texts can always be marshalled
	text := fmt.Appendf(nil,
		`{"id":"%d","channel_id":"%s","author":%s,"content":%s,"flags":%d,"components":%s,"type":0,"mentions":[],`+
			`"attachments":[],`+
			`"embeds":[]}`, id, in, botUser, content, m.Flags, m.Components)
	d.keep(in, message{id: id, json: text})
	made := wire.Answer(http.StatusOK, string(text))
	if m.Enforce {
		d.nonces[string(m.Nonce)] = made
	}
	return made
}

// nonceTime is how long a nonce is known at least. On Discord it is "a few minutes".
const nonceTime = 4 * time.Minute

// made returns the answer to the post that had a nonce, nil if there was none lately. The caller holds the lock.
func (d *Discord) made(nonce string) []byte {
	if time.Since(d.turned) > nonceTime {
		d.nonces, d.older, d.turned = map[string][]byte{}, d.nonces, time.Now()
	}
	if made, known := d.nonces[nonce]; known {
		return made
	}
	return d.older[nonce]
}

// maxKept is how many messages of a channel can be read back.
const maxKept = 2000

// keep keeps a message, so that it can be read back. The caller holds the lock.
func (d *Discord) keep(in string, m message) {
	all := append(d.messages[in], m)
	d.messages[in] = all[max(0, len(all)-maxKept):]
}

// limits counts a post, and reports whether it is refused. The caller holds the lock.
func (d *Discord) limits() bool {
	d.posts++
	return d.plan.Refuses(d.posts)
}

// stray records a post that is no reply to an event in its channel. The caller holds the lock.
func (d *Discord) stray(body []byte) {
	d.tally.Strays++
	if len(d.tally.Stray) < maxStray {
		d.tally.Stray = append(d.tally.Stray, string(body))
	}
}

// historyPage is how many messages a page has, Discord's limit.
const historyPage = 100

// history is the page of a channel's messages after one of them, the newest first; without one, the last page.
func (d *Discord) history(in, after string) string {
	all := d.messages[in]
	if after == "" {
		all = all[max(0, len(all)-historyPage):]
	} else {
		since, _ := strconv.ParseInt(after, 10, 64) // 0, the beginning, if it is no id
		first, _ := slices.BinarySearchFunc(all, since+1, func(m message, id int64) int { return int(m.id - id) })
		all = all[first:min(len(all), first+historyPage)]
	}
	texts := make([]string, 0, len(all))
	for _, m := range slices.Backward(all) {
		texts = append(texts, string(m.json))
	}
	return "[" + strings.Join(texts, ",") + "]"
}
