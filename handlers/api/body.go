package api

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"leaderboard/store"
)

// MaxBody is the largest body, as it came and inflated.
const MaxBody = 1 << 20

// readBody returns the body of a request as plain bytes of JSON. They alias the request.
func readBody(c *fiber.Ctx) ([]byte, error) {
	header := &c.Request().Header
	if !isJSON(header.ContentType()) {
		return nil, ErrMediaType
	}
	// Not c.Body(): it inflates without a bound.
	body := c.Request().Body()
	if len(body) > MaxBody {
		return nil, ErrTooLarge
	}
	encodings := header.PeekAll(fiber.HeaderContentEncoding)
	switch {
	case len(encodings) == 0:
		return body, nil
	case len(encodings) > 1:
		return nil, ErrMediaType
	}
	switch strings.ToLower(strings.TrimSpace(string(encodings[0]))) {
	case "identity":
		return body, nil
	case "gzip":
		return inflate(body)
	}
	return nil, ErrMediaType
}

// isJSON reports whether a content type means JSON in UTF-8. No type at all is taken for it.
func isJSON(contentType []byte) bool {
	if len(contentType) == 0 || string(contentType) == fiber.MIMEApplicationJSON {
		return true
	}
	kind, parameters, err := mime.ParseMediaType(string(contentType))
	if err != nil || kind != fiber.MIMEApplicationJSON {
		return false
	}
	charset, ok := parameters["charset"]
	return !ok || strings.EqualFold(charset, "utf-8")
}

var inflaters = sync.Pool{New: func() any { return new(gzip.Reader) }}

func inflate(body []byte) ([]byte, error) {
	inflater := inflaters.Get().(*gzip.Reader)
	defer inflaters.Put(inflater)
	if err := inflater.Reset(bytes.NewReader(body)); err != nil {
		return nil, store.Invalid("body", "must be gzip, as its Content-Encoding says")
	}
	var plain bytes.Buffer
	n, err := io.Copy(&plain, io.LimitReader(inflater, MaxBody+1))
	switch {
	case n > MaxBody: // first: what lies behind may be damaged or endless
		return nil, ErrTooLarge
	case err != nil:
		return nil, store.Invalid("body", "must be gzip, as its Content-Encoding says")
	}
	return plain.Bytes(), nil
}

// idempotencyKey returns the Idempotency-Key of a request, or "" where there is none.
func idempotencyKey(c *fiber.Ctx) (string, error) {
	const name = "Idempotency-Key"
	values := c.Request().Header.PeekAll(name)
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	if len(values) > 1 || len(key) < 1 || len(key) > 255 || bytes.ContainsFunc(key, notVisibleASCII) {
		return "", store.Invalid(name, "must be given once, as 1 to 255 visible ASCII characters")
	}
	return string(key), nil
}

func notVisibleASCII(r rune) bool { return r <= ' ' || r > '~' }

// fault turns an error of the JSON reader into one that callers may see.
func fault(err error) error {
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return &MalformedError{Detail: "the body ends too early"}
		}
		return err
	}
	if errors.Is(syntax.Err, jsontext.ErrDuplicateName) {
		return store.Invalid(shown(syntax.JSONPointer.LastToken()), "must be given once")
	}
	malformed := &MalformedError{Detail: fmt.Sprintf("the body is not JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)}
	for token := range syntax.JSONPointer.Tokens() {
		malformed.Field = shown(token)
		break
	}
	return malformed
}

// shown returns a name as a caller sent it, cut to a length that can be shown.
func shown(name string) string {
	const longest = 64
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "") + "…"
	}
	return utils.CopyString(name)
}
