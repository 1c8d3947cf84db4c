package llmtest

import "gatehouse/core/strictjson"

// cache is what a vendor keeps of the requests that it answered: digests of what they began with. Input tokens that it
// knows are billed as cached.
type cache map[string]bool

// piece is a part of a request in the order of the vendor's cache: a tool, the system prompt, a message or a block of
// one.
type piece struct {
	text string
	mark bool // something is kept up to here
}

// lookBack is how many blocks before a breakpoint Anthropic looks for what it has kept (platform.claude.com, prompt
// caching).
const lookBack = 20

// bill gives how many tokens a request has, and how many of them are billed as cached, and keeps what it begins with.
// Pieces are found up to back pieces before a mark; 0: anywhere.
func (k cache) bill(owner string, pieces []piece, back int) (input, cached int) {
	prefix, near := owner, make([]bool, len(pieces))
	for i, p := range pieces {
		for j := i; p.mark && back > 0 && j >= 0 && j > i-back; j-- {
			near[j] = true
		}
	}
	var keep []string
	for i, p := range pieces {
		prefix = digest(prefix + "\n" + p.text)
		input += (len(p.text) + 3) / 4
		if k[prefix] && (near[i] || back == 0) {
			cached = input
		}
		if p.mark {
			keep = append(keep, prefix)
		}
	}
	for _, prefix := range keep {
		k[prefix] = true
	}
	return input, cached
}

// bill bills a request of the Messages API: what it marks is kept.
func (s *Anthropic) bill(c Received, body *strictjson.Value) (input, cached int) {
	return s.cache.bill(text(body, "model")+c.Header.Get("X-Api-Key"), cachePieces(body), lookBack)
}

// breakpoints is how many marks of the cache a request may have.
const breakpoints = 4

func checkBreakpoints(c *checker, body *strictjson.Value) {
	n := 0
	for _, p := range cachePieces(body) {
		if p.mark {
			n++
		}
	}
	if n > breakpoints {
		c.fault("", "A maximum of %d blocks with cache_control may be provided. Found %d.", breakpoints, n)
	}
}

// cachePieces are the parts of a request of the Messages API. A mark of the whole is one of its last block.
func cachePieces(body *strictjson.Value) (all []piece) {
	add := func(role string, v *strictjson.Value) {
		list, _ := unmarked(v).([]any)
		for i, block := range list {
			marked := v.Kind == strictjson.Array && v.Items[i].Get("cache_control") != nil
			all = append(all, piece{role + string(encode(block)), marked})
		}
	}
	add("tools", body.Get("tools"))
	add("system", body.Get("system"))
	for _, m := range items(body, "messages") {
		add(text(m, "role"), m.Get("content"))
	}
	if body.Get("cache_control") != nil && len(all) > 0 {
		all[len(all)-1].mark = true
	}
	return all
}

// bill bills a request of either API of OpenAI. From gpt-5.6 on what ends with the newest message is kept, for requests
// of the same key; earlier models, and other vendors, find any message.
func (s *OpenAI) bill(c Received, body *strictjson.Value) (input, cached int) {
	key := text(body, "prompt_cache_key")
	newest := gptVersion(text(body, "model")) >= 5.6
	if newest && key == "" {
		key = digest(string(c.Body)) // nobody else's
	}
	var all []piece
	for _, part := range []string{"tools", "messages", "input"} {
		for _, v := range items(body, part) {
			all = append(all, piece{part + string(encode(v.Any())), !newest})
		}
	}
	if len(all) > 0 {
		all[len(all)-1].mark = true
	}
	return s.cache.bill(owner(c, body)+key, all, 0)
}
