package blockkit

import (
	"fmt"
	"slices"
	"strings"
)

// Reach is a part of a message with an effect beyond being read.
type Reach struct {
	Kind   string // "broadcast", "user", "group", "channel", "link"
	Target string // channel, here, U1, S1, C1, or an address
	Label  string // the text that is shown for it, if it has one
	Where  string // the field: text, blocks/0/text/text, ...
}

// Reaches returns the mentions, broadcasts and labelled links in a value of a message: a block, a list of blocks, or
// attachments.
func Reaches(where string, value any) []Reach {
	var found []Reach
	switch v := value.(type) {
	case Block:
		switch v["type"] {
		case "plain_text":
			return nil
		case "user":
			found = append(found, Reach{Kind: "user", Target: fmt.Sprint(v["user_id"]), Where: where})
		case "usergroup":
			found = append(found, Reach{Kind: "group", Target: fmt.Sprint(v["usergroup_id"]), Where: where})
		case "broadcast":
			found = append(found, Reach{Kind: "broadcast", Target: fmt.Sprint(v["range"]), Where: where})
		case "link":
			if label, ok := v["text"].(string); ok {
				found = append(found, Reach{Kind: "link", Target: fmt.Sprint(v["url"]), Label: label, Where: where})
			}
		case "text":
			return nil // Slack parses no markup in the text of rich text
		}
		for key, inner := range v {
			if key != "value" && key != "action_id" && key != "block_id" && key != "url" {
				found = append(found, Reaches(where+"/"+key, inner)...)
			}
		}
	case []any:
		for i, inner := range v {
			found = append(found, Reaches(fmt.Sprintf("%s/%d", where, i), inner)...)
		}
	case string:
		found = ReachesInText(where, v)
	}
	slices.SortStableFunc(found, func(a, b Reach) int { return strings.Compare(a.Where, b.Where) })
	return found
}

// ReachesInText returns the tokens in angle brackets that Slack parses.
func ReachesInText(where, text string) []Reach {
	var found []Reach
	for _, m := range entity.FindAllStringSubmatch(text, -1) {
		sign, target := m[1], m[2]
		label := ""
		if _, after, ok := strings.Cut(strings.Trim(m[0], "<>"), "|"); ok {
			label = after
		}
		r := Reach{Target: target, Label: label, Where: where}
		switch {
		case sign == "@":
			r.Kind = "user"
		case sign == "#":
			r.Kind = "channel"
		case sign == "!" && strings.HasPrefix(target, "subteam^"):
			r.Kind, r.Target = "group", strings.TrimPrefix(target, "subteam^")
		case sign == "!" && strings.HasPrefix(target, "date^"):
			continue // a date in the reader's zone
		case sign == "!":
			r.Kind = "broadcast"
		case label != "" && strings.Contains(target, ":"):
			r.Kind = "link"
		default:
			continue
		}
		found = append(found, r)
	}
	return found
}
