package settings

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

var modelKeys = []string{
	"name", "vendor", "model", "api", "base_url", "key_env", "key_file", "headers", "stream", "context", "max_tokens",
	"text_only", "extras", "price",
}

// loadModels reads the file of models, by their names; "" = no file. Errors: strictyaml.Faults.
func loadModels(file string, vendors []string) (map[string]ChosenModel, error) {
	if file == "" {
		return nil, nil
	}
	r := modelReader{strictyaml.Reader{File: file}, vendors}
	data, ok := r.ReadFile()
	all := map[string]ChosenModel{}
	if !ok {
		return nil, r.Err()
	}
	root := r.Parse(data, "models:")
	if root == nil {
		return nil, r.Err()
	}
	models := r.Values(root, "the file", "models")["models"]
	if models == nil {
		r.Fault(root, "add models: with a list of them", "there are no models")
		return nil, r.Err()
	}
	for _, item := range r.List(models, "models", "- {name: fast, vendor: openai, model: gpt-5}") {
		m := r.model(item)
		if _, twice := all[m.Name]; twice {
			r.Fault(item, "give one of them another name", "there are two models of the name %s",
				strictyaml.Quoted(m.Name))
		}
		all[m.Name] = m
	}
	return all, r.Err()
}

type modelReader struct {
	strictyaml.Reader
	vendors []string
}

// model reads one model.
func (r *modelReader) model(n *yaml.Node) ChosenModel {
	m := ChosenModel{Stream: true}
	has := map[string]bool{}
	var extras *yaml.Node
	for _, e := range r.Entries(n, "a model", modelKeys) {
		has[e.Key] = true
		r.field(&m, e)
		if e.Key == "extras" {
			extras = e.Value
		}
	}
	if m.Extras["stream"] != nil {
		r.Fault(extras, "leave it out, and write stream: true or false beside extras", "the extras have stream")
	}
	if m.Extras["stream_options"] != nil && m.Stream {
		r.Fault(extras, "leave it out: a stream is always asked for its usage", "the extras have stream_options")
	}
	for _, key := range []string{"name", "vendor", "model"} {
		if !has[key] {
			r.Fault(n, "add "+key, "the model has no %s", key)
		}
	}
	if has["key_env"] && has["key_file"] {
		r.Fault(n, "use one of the two", "the model has both key_env and key_file")
	}
	return m
}

func (r *modelReader) field(m *ChosenModel, e strictyaml.Entry) {
	switch n := e.Value; e.Key {
	case "name":
		m.Name, _ = r.Text(n, e.Key, "fast")
	case "vendor":
		m.Vendor, _ = r.Word(n, e.Key, r.vendors)
	case "model":
		m.Model, _ = r.Text(n, e.Key, "gpt-5")
	case "api":
		m.API, _ = r.Word(n, e.Key, []string{openai.Chat, openai.Responses})
	case "base_url":
		m.BaseURL, _ = r.Text(n, e.Key, "http://127.0.0.1:11434/v1")
	case "key_env", "key_file":
		m.Key = r.key(n, e.Key)
	case "headers":
		m.Headers = map[string]string{}
		for _, h := range r.Entries(n, e.Key, nil) {
			m.Headers[h.Key], _ = r.Text(h.Value, h.Key, "a value")
		}
	case "stream":
		m.Stream = r.Bool(n, e.Key)
	case "text_only":
		m.TextOnly = r.Bool(n, e.Key)
	case "context":
		m.Context = int(r.whole(n, e.Key))
	case "max_tokens":
		m.MaxTokens = r.whole(n, e.Key)
	case "extras":
		m.Extras = map[string]json.RawMessage{}
		for _, x := range r.Entries(n, e.Key, nil) {
			m.Extras[x.Key], _ = r.JSON(x.Value, x.Key)
		}
	case "price":
		p := r.Values(n, e.Key, "in", "cached", "out")
		m.Price = Price{In: r.price(p["in"]), Cached: r.price(p["cached"]), Out: r.price(p["out"])}
	}
}

// key reads a key from where the file says that it is: a variable of the environment, or a file.
func (r *modelReader) key(n *yaml.Node, what string) string {
	name, ok := r.Text(n, what, "OPENAI_API_KEY")
	if !ok {
		return ""
	}
	if what == "key_env" {
		value, set := os.LookupEnv(name)
		if !set || value == "" {
			r.Fault(n, "set it, or name another one", "the variable %s is not set", name)
		}
		return value
	}
	data, err := core.ReadText(name)
	if err != nil {
		r.Fault(n, "correct the path, or let gatehouse read it", "the file %s can't be read: %v", name, err)
	}
	return strings.TrimSpace(string(data))
}

func (r *modelReader) whole(n *yaml.Node, what string) int64 {
	value, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || value < 1 {
		r.Fault(n, "write a whole number of at least 1", "%s is %s", what, strictyaml.Shown(n))
	}
	return value
}

func (r *modelReader) price(n *yaml.Node) float64 {
	if n == nil {
		return 0
	}
	value, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || !(value >= 0) {
		r.Fault(n, "write a number of at least 0", "a price is %s", strictyaml.Shown(n))
	}
	return value
}
