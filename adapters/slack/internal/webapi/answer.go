package webapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"reflect"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
)

// done is what is read of the answer to a method that did what it was asked for. It is part of every other struct of
// answers.
type done struct {
	OK bool `json:"ok"`
}

// paged is where a list goes on.
type paged struct {
	Metadata struct {
		Cursor string `json:"next_cursor"`
	} `json:"response_metadata"`
}

// posted is a message that was posted or updated.
type posted struct {
	done
	Channel   string `json:"channel"`
	TS        string `json:"ts"`
	MessageTS string `json:"message_ts"` // of chat.postEphemeral
}

// messages is a page of a conversation.
type messages struct {
	done
	paged
	HasMore  bool      `json:"has_more"`
	Messages []message `json:"messages"`
}

// message is a message in a conversation. Text is all of it, as Slack sent it: slack-go would refuse what it does not
// know, so the adapter decodes it.
type message struct {
	mark
	Text string `json:"text"`
}

// mark is our own mark of a message; a message that has it not in our form has none.
type mark struct {
	TS       string `json:"ts"`
	Metadata struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	} `json:"metadata"`
}

func (m *message) UnmarshalJSON(data []byte) error {
	m.Text = string(data)
	if json.Unmarshal(data, &m.mark) != nil {
		m.mark = mark{}
	}
	return nil
}

// file is what Slack knows of a file. Preview is all of it, as Slack sent it, for the adapter to decode.
type file struct {
	Preview string `json:"preview"`
}

func (f *file) UnmarshalJSON(data []byte) error {
	f.Preview = string(data)
	return nil
}

// answers are the structs of the answers that are read, by their methods.
var answers = map[string]any{
	"apps.connections.open": struct {
		done
		URL string `json:"url"`
	}{},
	"assistant.threads.setStatus": done{},
	"auth.test": struct {
		done
		TeamID       string `json:"team_id"`
		Team         string `json:"team"`
		EnterpriseID string `json:"enterprise_id"`
		UserID       string `json:"user_id"`
		User         string `json:"user"`
		BotID        string `json:"bot_id"`
	}{},
	"bots.info": struct {
		done
		Bot struct {
			AppID string `json:"app_id"`
			Name  string `json:"name"`
		} `json:"bot"`
	}{},
	"chat.delete": done{},
	"chat.getPermalink": struct {
		done
		Permalink string `json:"permalink"`
	}{},
	"chat.postEphemeral":    posted{},
	"chat.postMessage":      posted{},
	"chat.update":           posted{},
	"conversations.history": messages{},
	"conversations.info": struct {
		done
		Channel struct {
			Name   string `json:"name"`
			IsMpIM bool   `json:"is_mpim"`
		} `json:"channel"`
	}{},
	"conversations.members": struct {
		done
		paged
		Members []string `json:"members"`
	}{},
	"conversations.open": struct {
		done
		Channel struct {
			ID string `json:"id"`
		} `json:"channel"`
	}{},
	"conversations.replies": messages{},
	"files.info": struct {
		done
		File file `json:"file"`
	}{},
	"reactions.add":    done{},
	"reactions.remove": done{},
	"usergroups.list": struct {
		done
		Groups []struct {
			ID     string `json:"id"`
			Handle string `json:"handle"`
		} `json:"usergroups"`
	}{},
	"usergroups.users.list": struct {
		done
		Users []string `json:"users"`
	}{},
	"users.conversations": struct {
		done
		paged
		Channels []struct {
			Name        string `json:"name"`
			IsIM        bool   `json:"is_im"`
			IsMpIM      bool   `json:"is_mpim"`
			IsExtShared bool   `json:"is_ext_shared"`
		} `json:"channels"`
	}{},
	"users.info": struct {
		done
		User struct {
			TeamID   string `json:"team_id"`
			Name     string `json:"name"`
			RealName string `json:"real_name"`
			Deleted  bool   `json:"deleted"`
			IsBot    bool   `json:"is_bot"`
			Profile  struct {
				DisplayName string `json:"display_name"`
				RealName    string `json:"real_name"`
			} `json:"profile"`
			Enterprise struct {
				EnterpriseID string `json:"enterprise_id"`
			} `json:"enterprise_user"`
		} `json:"user"`
	}{},
	"views.open": done{},
}

// reader is an HTTP client that passes on what is read of an answer, and nothing else. slack-go decodes every field of
// an answer, our own message with all its blocks among them, and fails for any that it does not know; a message that
// Slack has posted would count as lost.
type reader struct {
	*http.Client
	clock *outbound.Clock
}

// maxAnswer is how long an answer may be, in bytes. A page of long messages has some millions.
const maxAnswer = 32 << 20

// Do calls a method of the Web API. Error: no answer, or one that does not say what is read of it. A refusal that has
// Slack's form is Slack's own, whatever its status.
func (c reader) Do(r *http.Request) (*http.Response, error) {
	asked := c.clock.Now()
	response, err := c.Client.Do(r)
	if err != nil || response.StatusCode == http.StatusTooManyRequests {
		return response, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		c.clock.Answered(asked, response.Header)
	}
	all, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil && response.StatusCode == http.StatusOK:
		return nil, err
	case len(all) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d MB", maxAnswer>>20)
	}
	read, refused, err := readAnswer(path.Base(r.URL.Path), all)
	switch {
	case err != nil && response.StatusCode == http.StatusOK:
		return nil, err
	case refused:
		response.StatusCode = http.StatusOK
	}
	response.Body = io.NopCloser(bytes.NewReader(read))
	return response, nil
}

// readAnswer returns what is read of a method's answer, by the exact names of its fields, and whether it is a refusal.
func readAnswer(method string, all []byte) (read []byte, refused bool, err error) {
	var verdict struct {
		OK     *bool           `json:"ok"`
		Error  json.RawMessage `json:"error"`
		Needed json.RawMessage `json:"needed"`
	}
	if err := inbound.Decode(all, &verdict); err != nil {
		return nil, false, err
	}
	switch {
	case verdict.OK == nil:
		return nil, false, errors.New("the answer does not say whether it was done")
	case !*verdict.OK:
		refusal := struct {
			done
			Error  string `json:"error"`
			Needed string `json:"needed,omitempty"` // a scope
		}{}
		_ = json.Unmarshal(verdict.Needed, &refusal.Needed) // most have none
		if err := json.Unmarshal(verdict.Error, &refusal.Error); err != nil || refusal.Error == "" {
			refusal.Error = "no_reason_given" // without a reason slack-go takes it for a success
		}
		read, err = json.Marshal(refusal)
		return read, true, err
	}
	form, known := answers[method]
	if !known {
		return nil, false, fmt.Errorf("nothing is known of the answers to %s", method)
	}
	into := reflect.New(reflect.TypeOf(form)).Interface()
	if err := inbound.Decode(all, into); err != nil {
		return nil, false, err
	}
	read, err = json.Marshal(into)
	return read, false, err
}
