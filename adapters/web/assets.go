package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"time"
)

//go:embed assets
var assetFiles embed.FS

// The assets are below a path with a digest of all of them, so that a browser may keep them for good. Scripts import each other by relative
// names, so they stay together.
const assetPattern = "/assets/{version}/{name}"

var (
	assets       = readAssets()
	assetVersion = digestOf(assets)
	assetPath    = "/assets/" + assetVersion
)

func readAssets() map[string][]byte {
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		panic(err) // they are in the binary
	}
	all := map[string][]byte{}
	for _, e := range entries {
		content, err := fs.ReadFile(assetFiles, path.Join("assets", e.Name()))
		if err != nil {
			panic(err)
		}
		all[e.Name()] = content
	}
	return all
}

// chatModules are the scripts that the chat's own script imports, for browsers to load at once.
func chatModules() (names []string) {
	for name := range assets {
		if path.Ext(name) == ".js" && name != "chat.js" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func digestOf(files map[string][]byte) string {
	all := sha256.New()
	entries, _ := assetFiles.ReadDir("assets") // sorted by name
	for _, e := range entries {
		sum := sha256.Sum256(files[e.Name()])
		all.Write([]byte(e.Name()))
		all.Write(sum[:])
	}
	return hex.EncodeToString(all.Sum(nil)[:8])
}

// asset answers with an asset. One of another version, which a page of another replica names, is answered with ours, which is not kept.
func asset(w http.ResponseWriter, r *http.Request) {
	kept := "no-cache"
	if r.PathValue("version") == assetVersion {
		kept = "public, max-age=31536000, immutable"
	}
	serveAsset(w, r, r.PathValue("name"), kept)
}

func favicon(w http.ResponseWriter, r *http.Request) {
	serveAsset(w, r, "favicon.svg", "public, max-age=86400")
}

var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

func serveAsset(w http.ResponseWriter, r *http.Request, name, kept string) {
	secure(w.Header())
	content, known := assets[name]
	if !known {
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", kinds[path.Ext(name)])
	h.Set("Cache-Control", kept)
	h.Set("ETag", `"`+assetVersion+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}
