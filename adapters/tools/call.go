package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictjson"
	"gatehouse/core/strictyaml"
)

// keyHeader is the header that holds the call's key.
const keyHeader = "Idempotency-Key"

// call is an HTTP request that is made with the arguments of a call.
type call struct {
	client  *http.Client
	method  string
	url     *url.URL
	fixed   []string          // the names in the query of a GET, to which the arguments are added
	headers map[string]string // with the values of secrets
	secrets []string          // these values
}

var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// http reads a request: its method, its address on a listed host, its headers, and the secrets that these name.
func (l *loader) http(n *yaml.Node) *call {
	c := &call{client: l.Hosts.client(false), headers: map[string]string{}}
	parts := l.Values(n, "http", "method", "url", "headers", "secrets")
	if n.Kind != yaml.MappingNode {
		return c
	}
	if v := parts["method"]; v != nil {
		c.method, _ = l.Word(v, "method", methods)
	} else {
		l.Fault(n, "add method: POST, or GET for one that reads", "the request has no method")
	}
	if v := parts["url"]; v != nil {
		c.url = l.url(v)
	} else {
		l.Fault(n, "add url: with the whole address, such as https://api.example.com/refunds", "the request has no url")
	}
	if c.method == http.MethodGet && c.url != nil {
		query, err := url.ParseQuery(c.url.RawQuery)
		if err != nil {
			// it may hold a secret
			l.Fault(parts["url"], "write it as ?name=value&other=value, and other characters as %XX",
				"the query of this url can't be read")
		}
		c.fixed = slices.Sorted(maps.Keys(query))
	}
	l.headers(c, parts["headers"], l.secrets(c, parts["secrets"]))
	return c
}

func (l *loader) url(n *yaml.Node) *url.URL {
	text, ok := l.Text(n, "url", "https://api.example.com/refunds")
	if !ok {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		u.Fragment != "" {
		// it may hold a secret
		l.Fault(n, "write the whole address, without a password, such as https://api.example.com/refunds",
			"this url can't be used")
		return nil
	}
	if l.Hosts.permit(u) != nil {
		l.Fault(n, "add "+u.Host+" to it, or correct the url", "the host %s is not in GATEHOUSE_FETCH_HOSTS", u.Host)
	}
	return u
}

// secret is the value of a variable.
type secret struct {
	value string
	at    *yaml.Node
	used  bool
}

// secrets reads the names of the variables that the headers use.
func (l *loader) secrets(c *call, n *yaml.Node) map[string]*secret {
	all := map[string]*secret{}
	if n == nil {
		return all
	}
	for _, item := range l.List(n, "secrets", "[SHOP_TOKEN]") {
		name := item.Value
		if item.Kind != yaml.ScalarNode || !variable.MatchString(name) {
			l.Fault(item, "write the name of a variable, never the secret itself",
				"an item of secrets is no name of a variable")
			continue
		}
		value, _ := l.Getenv(name)
		value = strings.TrimSpace(value)
		switch {
		case value == "":
			l.Fault(item, "set it in the environment of gatehouse", "the variable %s is not set", name)
		case !validHeader(value):
			l.Fault(item, "set it to one line of text", "the value of the variable %s can't be put into a header", name)
		}
		all[name] = &secret{value: value, at: item}
		c.secrets = append(c.secrets, value)
	}
	return all
}

// headers reads the headers. {{NAME}} in a value stands for a secret.
func (l *loader) headers(c *call, n *yaml.Node, secrets map[string]*secret) {
	if n != nil {
		for _, e := range l.Entries(n, "headers", nil) {
			l.header(c, e, secrets)
		}
	}
	for name, s := range secrets {
		if !s.used {
			l.Fault(s.at, "use it in headers, such as Authorization: Bearer {{"+name+"}}, or remove it",
				"the secret %s is not used", name)
		}
	}
}

func (l *loader) header(c *call, e strictyaml.Entry, secrets map[string]*secret) {
	name := textproto.CanonicalMIMEHeaderKey(e.Key)
	if slices.Contains([]string{keyHeader, "Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection"},
		name) || !validHeaderName(name) {
		l.Fault(e.At, "remove it", "the header %s can't be set here", strictyaml.Quoted(e.Key))
		return
	}
	if _, twice := c.headers[name]; twice {
		l.Fault(e.At, "remove one of the two", "the header %s is there twice", name)
	}
	template, _ := l.Text(e.Value, "the header "+name, "application/json")
	if _, ok := placeholders(template); !ok || !validHeader(template) {
		l.Fault(e.Value, "write one line of text, and each placeholder as {{SHOP_TOKEN}}",
			"the header %s can't be used", name)
	}
	c.headers[name] = fill(template, func(named string) string {
		s := secrets[named]
		if s == nil {
			l.Fault(e.Value, "add it to secrets: ["+named+"]",
				"the header %s uses {{%s}}, which is no secret of this tool", name, named)
			return ""
		}
		s.used = true
		return s.value
	})
}

// validHeader reports whether a text can be the value of a header.
func validHeader(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func validHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r)
	})
}

// do makes the request: with the arguments as JSON in its body, or in the query of a GET.
func (c *call) do(name string, most int) func(context.Context, string, json.RawMessage) (string, error) {
	return func(ctx context.Context, key string, args json.RawMessage) (string, error) {
		u, content := *c.url, []byte(args)
		if c.method == http.MethodGet {
			content = nil
			query, err := withQuery(u.Query(), args)
			if err != nil {
				return "", err
			}
			u.RawQuery = query.Encode()
		}
		r, err := http.NewRequestWithContext(ctx, c.method, u.String(), bytes.NewReader(content))
		if err != nil {
			return "", core.Wrap(core.ToolFailed, err, "%s could not make its request.", name)
		}
		r.Header.Set("User-Agent", "gatehouse")
		if content != nil {
			r.Header.Set("Content-Type", "application/json")
			r.GetBody = nil // it is never sent again without the executor's word
		}
		for header, value := range c.headers {
			r.Header.Set(header, value)
		}
		r.Header.Set(keyHeader, key)
		return request(c.client, r, most, c.secrets)
	}
}

// withQuery adds arguments to a query: texts as they are, other values as JSON, each item of a list by itself, and
// nothing for null. Errors: tool_arguments, if one has a name that the query has already.
func withQuery(q url.Values, args json.RawMessage) (url.Values, error) {
	v, err := strictjson.Parse(args)
	if err != nil {
		return nil, core.Wrap(core.ToolArguments, err, "The arguments are not valid JSON: %s.", err)
	}
	for _, m := range v.Members {
		if q.Has(m.Key) {
			return nil, core.Errorf(core.ToolArguments, "The argument %s is fixed by the tool, so nothing was sent. "+
				"Leave it out.", m.Key)
		}
		items := []*strictjson.Value{m.Value}
		if m.Value.Kind == strictjson.Array {
			items = m.Value.Items
		}
		for _, item := range items {
			switch item.Kind {
			case strictjson.Null:
			case strictjson.String:
				q.Add(m.Key, item.String)
			default:
				q.Add(m.Key, string(item.Raw(args)))
			}
		}
	}
	return q, nil
}
