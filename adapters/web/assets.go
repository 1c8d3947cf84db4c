package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed assets
var assetFiles embed.FS

// The assets are below a path with a digest of all of them, so that a browser may keep them for good. Scripts import
// each other by relative names, so they stay together.
const assetPattern = "/assets/{version}/{name}"

var (
	assetVersion = digestOfAssets()
	assetPath    = "/assets/" + assetVersion
)

func assetNamed(name string) ([]byte, error) { return assetFiles.ReadFile("assets/" + name) }

// entryPoints are the scripts that nothing imports: of the chat, of every page, and of the shared worker.
var entryPoints = []string{"chat.js", "waiting.js", "hubworker.js"}

// chatModules are the scripts that the chat's own script imports, for browsers to load at once.
func chatModules() (names []string) {
	scripts, _ := fs.Glob(assetFiles, "assets/*.js") // sorted
	for _, script := range scripts {
		if name := path.Base(script); !slices.Contains(entryPoints, name) && !strings.HasPrefix(name, "approvals") {
			names = append(names, name)
		}
	}
	return names
}

func digestOfAssets() string {
	all := sha256.New()
	entries, _ := assetFiles.ReadDir("assets") // sorted by name
	for _, e := range entries {
		content, err := assetNamed(e.Name())
		if err != nil {
			panic(err) // they are in the binary
		}
		sum := sha256.Sum256(content)
		all.Write([]byte(e.Name()))
		all.Write(sum[:])
	}
	return hex.EncodeToString(all.Sum(nil)[:8])
}

// asset answers with an asset. One of another version, which a page of another replica names, is answered with ours,
// which is not kept.
func asset(w http.ResponseWriter, r *http.Request) {
	kept := "no-cache"
	if r.PathValue("version") == assetVersion {
		kept = "public, max-age=31536000, immutable"
	}
	serveAsset(w, r, r.PathValue("name"), kept)
}

// atRoot serves an asset for which browsers and crawlers look at the root.
func atRoot(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serveAsset(w, r, name, "public, max-age=86400")
	})
}

var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// packed are the assets as they are sent to browsers that unpack them, by their names: all of them, made for the first
// one. Pages are not packed: their size would tell those who make a browser load them what they have in common with a
// page's secrets (BREACH).
var packed = sync.OnceValue(func() map[string][]byte {
	all := map[string][]byte{}
	entries, _ := assetFiles.ReadDir("assets")
	for _, e := range entries {
		content, _ := assetNamed(e.Name()) // digestOfAssets has read it
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = w.Write(content) // to memory
		_ = w.Close()
		all[e.Name()] = b.Bytes()
	}
	return all
})

func serveAsset(w http.ResponseWriter, r *http.Request, name, kept string) {
	secure(w.Header())
	content, err := assetNamed(name)
	if err != nil {
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	h, tag := w.Header(), assetVersion
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		content, tag = packed()[name], tag+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Type", kinds[path.Ext(name)])
	h.Set("Cache-Control", kept)
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}
