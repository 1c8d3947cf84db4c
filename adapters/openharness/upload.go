package openharness

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/intake"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// AttachmentsPath is where a Shell uploads a file, which its requests then name by its asset_id.
const AttachmentsPath = Path + "/attachments"

const (
	assetPrefix = "gatehouse_"
	assetTime   = 24 * time.Hour
	bytesTime   = assetTime + time.Hour // the bytes outlive what refers to them
	acceptTime  = time.Hour             // until the request that names an upload is stored
	formSlack   = 16 << 10              // bytes of a form around its file
	fileTime    = 30 * time.Second      // for a file to arrive
)

// assetID is the form of the asset_ids that are given here.
var assetID = regexp.MustCompile(`^` + assetPrefix + `[A-Z2-7]{26}$`)

// upload is a file that a principal has sent. Its bytes are a blob; of a text, only the beginning is stored that is
// ever read.
type upload struct {
	Name   string `json:"name"`
	Type   string `json:"type,omitempty"` // "": a text of no declared type
	Size   int    `json:"size"`           // of the whole file
	Image  bool   `json:"image,omitempty"`
	Digest string `json:"digest"`
}

// uploadName is where an upload is kept: each principal has names of its own, so nobody finds another's.
func uploadName(who access.Person, asset string) string {
	return Name + "/upload/" + who.Name + "/" + asset
}

// accepted is what files may be.
var accepted = fmt.Sprintf(
	"Images (PNG, JPEG, WebP, GIF) and text files (plain text, Markdown, CSV, JSON, code) of at most %d MB are "+
		"accepted.",
	inbound.MaxUpload>>20)

// attach stores one file, and answers its asset_id.
func (c *call) attach(w http.ResponseWriter, r *http.Request) error {
	due := time.Now().Add(bodyTime + fileTime + answerTime)
	_ = http.NewResponseController(w).SetWriteDeadline(due) // fails only where there is no connection
	if err := c.limits.message(c.who); err != nil {
		return err
	}
	if err := unencoded(r); err != nil {
		return err
	}
	tooLarge := "The file is too large. " + accepted
	take := intake.Body{Most: inbound.MaxUpload + formSlack, Within: fileTime, Weight: fileWeight}
	body, err := take.Read(w, r)
	if err != nil {
		return c.notTaken(err, tooLarge)
	}
	f, data, err := readFile(r, body)
	switch {
	case err != nil:
		return err
	case len(data) == 0:
		return invalid("", "The file is empty. Send one that has something in it.")
	case len(data) > inbound.MaxUpload:
		return refuse(http.StatusRequestEntityTooLarge, codeTooLarge, tooLarge)
	}
	asset := assetPrefix + rand.Text()
	if err := c.keepUpload(r.Context(), asset, f, data); err != nil {
		return err
	}
	begin(w, http.StatusOK, "application/json")
	// the client has disconnected; it may upload again
	_ = json.NewEncoder(w).Encode(map[string]string{"asset_id": asset})
	return nil
}

// keepUpload stores a file for a day.
func (c *call) keepUpload(ctx context.Context, asset string, f inbound.File, data []byte) error {
	ev := core.Event{Platform: Name, ID: "upload/" + c.who.Name + "/" + asset}
	put := func(data []byte) (digest string, err error) { return c.Blobs.PutBlobFor(ctx, ev, data, bytesTime) }
	read, err := inbound.Uploaded(f, data, put)
	u := upload{Name: f.Name, Type: f.Type, Size: len(data)}
	switch {
	case core.CategoryOf(err) == core.NotAllowed:
		return unsupported("The file can't be read (" + core.MessageOf(err) + "). " + accepted)
	case err != nil:
		return err
	case read.Image.Type != "":
		u.Image, u.Type, u.Digest = true, read.Image.MediaType, read.Image.Source.Digest
	default:
		u.Digest, err = put(data[:len(data)-int(read.Left)])
	}
	if err != nil {
		return err
	}
	record, _ := json.Marshal(u) // texts and numbers: can't fail
	return c.KV.PutFor(ctx, uploadName(c.who, asset), string(record), assetTime)
}

// readFile finds the one file of a request: the body as it is, or the only part of a form.
func readFile(r *http.Request, body []byte) (f inbound.File, data []byte, err error) {
	declared := r.Header.Get("Content-Type")
	kind, params, err := mime.ParseMediaType(declared)
	if declared != "" && err != nil {
		return f, nil, unsupported("The Content-Type can't be read. " + accepted)
	}
	if kind != "multipart/form-data" {
		_, about, _ := mime.ParseMediaType(r.Header.Get("Content-Disposition"))
		return inbound.File{
			Name: fileName(cmp.Or(r.URL.Query().Get("filename"), about["filename"])), Type: safetext.Name(kind),
		}, body, nil
	}
	parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	part, err := parts.NextPart()
	switch {
	case err == nil && part.FileName() == "", errors.Is(err, io.EOF):
		return f, nil, oneFile
	case err != nil:
		return f, nil, halfAForm
	}
	kind, _, _ = mime.ParseMediaType(part.Header.Get("Content-Type"))
	f = inbound.File{Name: fileName(part.FileName()), Type: safetext.Name(kind)}
	var file bytes.Buffer
	file.Grow(len(body) + bytes.MinRead) // so that it need not grow by copying
	if _, err = file.ReadFrom(part); err != nil {
		return f, nil, halfAForm
	}
	switch _, err = parts.NextPart(); {
	case err == nil:
		return f, nil, oneFile
	case errors.Is(err, io.EOF):
		return f, file.Bytes(), nil
	}
	return f, nil, halfAForm
}

var halfAForm = invalid("", "The form did not arrive completely. Send it again.")

var oneFile = invalid("",
	"Send one file at a time, and nothing else: as the body, or as the only part of a multipart/form-data form.")

// fileName is the last part of a path, as a name to show.
func fileName(path string) string {
	return cmp.Or(safetext.Name(safetext.Clean(path[strings.LastIndexAny(path, `/\`)+1:])), "file")
}

// uploads finds the uploads that a request names, and keeps them for its event, which is to be stored next.
func (c *call) uploads(ctx context.Context, ev core.Event) (all map[string]upload, err error) {
	for i, a := range c.request.Attachments {
		if !assetID.MatchString(a.AssetID) {
			continue // of elsewhere
		}
		record, err := c.KV.Get(ctx, uploadName(c.who, a.AssetID))
		if err != nil {
			return nil, err
		}
		var u upload
		known := record != "" && json.Unmarshal([]byte(record), &u) == nil
		if known {
			known, err = c.Blobs.KeepBlob(ctx, ev, u.Digest, acceptTime)
		}
		switch {
		case err != nil:
			return nil, err
		case !known:
			return nil, notUploaded(i)
		case all == nil:
			all = map[string]upload{}
		}
		all[a.AssetID] = u
	}
	return all, nil
}

// notUploaded refuses a request for one of its attachments.
func notUploaded(i int) *refusal {
	r := refuse(http.StatusUnprocessableEntity, codeAttachment, fmt.Sprintf("The file of attachment %d was not found, "+
		"or has expired: an upload can be named for a day, by who uploaded it. "+
		"Upload it again, then send the request with its new asset_id.", i+1))
	r.Field = fmt.Sprintf("context.attachments[%d].asset_id", i)
	return r
}
