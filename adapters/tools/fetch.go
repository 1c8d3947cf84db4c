package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
)

// FetchName is the name of the tool that fetches pages.
const FetchName = "http.fetch"

// Fetch reads a page or a document of a listed host with GET. Arguments: {"url": "https://example.com/page"}.
func Fetch(h Hosts) tool.Tool {
	client := h.client(true)
	return tool.Tool{
		Name: FetchName,
		Description: "Fetches a text from a web address with GET: a page, JSON, a feed. It reaches only these hosts: " +
			h.String() + ".",
		Schema: json.RawMessage(
			`{"type":"object","properties":{"url":{"type":"string","minLength":1,"maxLength":4000}},` +
				`"required":["url"],"additionalProperties":false}`),
		Timeout:   30 * time.Second,
		Summarize: func(args json.RawMessage) string { return "Fetch " + addressOf(args) + "." },
		Do: func(ctx context.Context, _ string, args json.RawMessage) (string, error) {
			u, err := url.Parse(addressOf(args))
			if err != nil {
				return "", core.Wrap(core.ToolArguments, err, "This is no address. Write it like "+
					"https://example.com/page.")
			}
			if err := h.permit(u); err != nil {
				return "", err
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
			if err != nil {
				return "", core.Wrap(core.ToolArguments, err, "This is no address. Write it like "+
					"https://example.com/page.")
			}
			r.Header.Set("User-Agent", "gatehouse")
			r.Header.Set("Accept", "text/*, application/json, application/xml;q=0.9")
			return request(client, r, tool.DefaultMaxOutput, nil)
		},
	}
}

func addressOf(args json.RawMessage) string {
	var a struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(args, &a) // they fit the schema
	return a.URL
}

// request makes a request and gives the text of its answer, at most so many bytes. Errors: tool_failed where the server
// can't be reached, answers with anything but 2xx, or a GET with no text.
func request(client *http.Client, r *http.Request, most int, secrets []string) (string, error) {
	answer, err := client.Do(r)
	if err != nil {
		return "", unreachable(r, err)
	}
	defer answer.Body.Close()
	text, err := body(answer, most)
	status := mask.Without(answer.Status, secrets)
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		if to := answer.Header.Get("Location"); to != "" {
			text = "it points to " + to + ", and is not followed"
		} else if err != nil {
			text = "" // of which nothing can be shown
		}
		return "",
			core.Errorf(core.ToolFailed, "%s answered with %s%s", answer.Request.URL.Host, status,
				oneLine(text, secrets))
	}
	if err != nil && r.Method != http.MethodGet && r.Context().Err() == nil { // what was asked for is done
		return fmt.Sprintf("[%s answered with %s. What it sent is no text, or was cut off, so it is not shown.]",
			answer.Request.URL.Host, status), nil
	}
	if err != nil {
		return "", unreachable(r, err)
	}
	return cut(r.Context(), mask.Without(text, secrets), most, false), nil
}

// unreachable is the error of a request without an answer. The library's error names the whole address, with the
// arguments in it, and is left out.
func unreachable(r *http.Request, err error) error {
	if core.MessageOf(err) != "" {
		return err
	}
	if ended := r.Context().Err(); ended != nil {
		return ended // the tool's time is up, or the turn was stopped
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var dns *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return core.Wrap(core.ToolFailed, err, "There is no host %s.", r.URL.Hostname())
	case errors.As(err, &dns) || errors.As(err, &dial) && dial.Op == "dial":
		return core.Wrap(core.ToolFailed, err, "%s could not be reached.", r.URL.Host)
	}
	category, doubt := core.ToolFailed, ""
	if r.Method != http.MethodGet {
		category, doubt = core.OutcomeUnknown, " Whether it got the request is not known. Please check."
	}
	return core.Wrap(category, err, "The connection to %s was lost before its answer was complete.%s", r.URL.Host,
		doubt)
}
