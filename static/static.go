// Package static holds what browsers load besides pages: one stylesheet, the modules, the mark in the tab. Every file
// is served under an address that carries a hash of its content and may be kept for a year; a page made by a newer
// program names newer addresses.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed *.css *.js *.svg
var sources embed.FS

// Prefix is the first part of every address.
const Prefix = "/static/"

// stable is the client for other people's pages: they cannot know its hash, so it is served under its plain name too.
const stable = "leaderboard.js"

// File is a file as it is served.
type File struct {
	Body         []byte
	Gzipped      []byte // nil when compressing gains nothing
	Type         string // Content-Type
	CacheControl string
	ETag         string
	Public       bool // pages of other origins may load it: Access-Control-Allow-Origin is *
}

// types are the kinds of files that are served, by extension.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// order names the files so that each comes after those it imports: a module's hash covers the hashes of its imports.
var order = []string{"app.css", "favicon.svg", "theme.js", stable, "words.js", "rows.js", "search.js", "board.js", "inbox.js"}

type catalogue struct {
	files     map[string]File   // by address
	addresses map[string]string // by name
}

var loaded = sync.OnceValue(load)

// Address returns where a file is served. A name that is not there is a bug in the calling template, so it panics.
func Address(name string) string {
	address, ok := loaded().addresses[name]
	if !ok {
		panic("static: no file " + name)
	}
	return address
}

// Find returns the file that is served at an address.
func Find(address string) (File, bool) {
	file, ok := loaded().files[address]
	return file, ok
}

func load() catalogue {
	c := catalogue{files: map[string]File{}, addresses: map[string]string{}}
	for _, name := range order {
		body, err := fs.ReadFile(sources, name)
		if err != nil {
			panic("static: " + err.Error()) // the file was there when the program was built
		}
		for imported, address := range c.addresses {
			body = bytes.ReplaceAll(body, []byte(`"./`+imported+`"`), []byte(`"`+address+`"`))
		}
		c.add(name, body)
	}
	return c
}

func (c catalogue) add(name string, body []byte) {
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:5])
	extension := path.Ext(name)
	file := File{
		Body: body, Gzipped: compress(body), Type: types[extension],
		CacheControl: "public, max-age=31536000, immutable", ETag: `"` + hash + `"`,
	}
	address := Prefix + strings.TrimSuffix(name, extension) + "." + hash + extension
	c.addresses[name], c.files[address] = address, file
	if name == stable {
		file.CacheControl, file.Public = "public, max-age=300", true
		c.files[Prefix+name] = file
	}
}

// compress returns the body under gzip, or nil when that is no smaller.
func compress(body []byte) []byte {
	var out bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level exists
	_, _ = writer.Write(body)                                    // a buffer takes everything
	_ = writer.Close()
	if out.Len() >= len(body) {
		return nil
	}
	return out.Bytes()
}
