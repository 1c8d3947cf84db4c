package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core/strictjson"
)

const (
	maxAttachments = 32
	maxBase64      = 512 // bytes of a string that looks like base64: references are shorter
)

// Attachment refers to something outside of the message. RefID, URI or AssetID is set. They are claims of the Shell:
// nothing is fetched from elsewhere because of them.
type Attachment struct {
	RefID, URI, AssetID, MIMEType, Filename string
	Size                                    int64 // 0 if absent
}

func (p part) attachments() (all []Attachment) {
	list := p.get("attachments", strictjson.Array)
	if list == nil {
		return nil
	}
	if len(list.Items) > maxAttachments {
		p.refuse(p.at("attachments"), "A request has at most %d attachments.", maxAttachments)
		return nil
	}
	for i, item := range list.Items {
		all = append(all, part{p.decoder, item, fmt.Sprintf("%s[%d]", p.at("attachments"), i)}.attachment())
	}
	return all
}

func (p part) attachment() (a Attachment) {
	if p.v.Kind != strictjson.Object {
		p.refuse(p.path, "An attachment must be an object.")
		return a
	}
	if uri := p.v.Get("uri"); holdsContent(p.v) || uri != nil && isDataURI(uri.String) {
		p.fail(Fault{Code: InlineAttachment, Message: "An attachment is a reference; its content must not be in the " +
			"message.", Field: p.path})
	}
	a = Attachment{
		RefID: p.text("ref_id"), URI: p.text("uri"), AssetID: p.text("asset_id"), MIMEType: p.text("mime_type"),
		Filename: p.text("filename"),
	}
	if size := p.get("size_bytes", strictjson.Number); size != nil {
		n, ok := natural(size.Number)
		if !ok {
			p.refuse(p.at("size_bytes"), "The field %s must be an integer from 0 to %d.", p.at("size_bytes"),
				math.MaxInt64)
		}
		a.Size = n
	}
	if a.RefID == "" && a.URI == "" && a.AssetID == "" {
		p.refuse(p.path, "An attachment needs a ref_id, a uri or an asset_id.")
	}
	return a
}

// holdsContent reports whether a string at any depth is a data URI or a long text in base64.
func holdsContent(v *strictjson.Value) bool {
	return v.Kind == strictjson.String && isContent(v.String) || slices.ContainsFunc(v.Items, holdsContent) ||
		slices.ContainsFunc(v.Members, func(m strictjson.Member) bool { return holdsContent(m.Value) })
}

func isContent(s string) bool {
	if isDataURI(s) && strings.Contains(s, ",") || strings.Contains(s, ";base64,") { // a file may be named "data: 2024"
		return true
	}
	return len(s) > maxBase64 && strings.Trim(s, base64Characters) == ""
}

// base64Characters are those of both alphabets, the padding, and line breaks.
const base64Characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n"

var breaks = strings.NewReplacer("\t", "", "\r", "", "\n", "")

// isDataURI reports whether a browser would read s as a data: URI: it ignores blanks before it, and line breaks and
// tabs within.
func isDataURI(s string) bool {
	const scheme = "data:"
	s = breaks.Replace(strings.TrimLeftFunc(s, func(r rune) bool { return r <= ' ' }))
	return len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme)
}

// natural reads an integer from 0 up that an int64 can hold, however it is written: 10.0 and 1e3 are integers in a
// schema.
func natural(number json.Number) (int64, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number.String()), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	negative := strings.HasPrefix(whole, "-")
	digits := strings.TrimLeft(strings.TrimPrefix(whole, "-")+fraction, "0")
	if digits == "" {
		return 0, true
	}
	power, err := 0, error(nil)
	if exponent != "" {
		power, err = strconv.Atoi(exponent)
	}
	significant := strings.TrimRight(digits, "0")
	power += len(digits) - len(significant) - len(fraction)
	if negative || err != nil || power < 0 || len(significant)+power > len("9223372036854775807") {
		return 0, false
	}
	n, err := strconv.ParseInt(significant+strings.Repeat("0", power), 10, 64)
	return n, err == nil
}
