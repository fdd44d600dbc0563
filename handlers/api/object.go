package api

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2/utils"

	"leaderboard/store"
)

// reader reads JSON strictly: names once and as they are spelled, valid UTF-8, no null where a value is meant, nothing
// behind the end. It descends only where the reading code does, so depth needs no bound of its own.
type reader struct {
	decoder *jsontext.Decoder
	source  bytes.Buffer
	scratch []byte // the text last unquoted
}

var readers = sync.Pool{New: func() any { return &reader{decoder: new(jsontext.Decoder)} }}

// read lets parse read one JSON value that must be all there is.
func read(body []byte, parse func(*reader) error, options ...jsontext.Options) error {
	r := readers.Get().(*reader)
	defer r.release()
	// A decoder works on the bytes of a bytes.Buffer in place.
	r.source = *bytes.NewBuffer(body)
	r.decoder.Reset(&r.source, options...)
	if r.decoder.PeekKind() == jsontext.KindInvalid && len(bytes.TrimSpace(body)) == 0 {
		return &MalformedError{Detail: "the body is empty"}
	}
	if err := parse(r); err != nil {
		return fault(err)
	}
	if _, err := r.decoder.ReadToken(); err != io.EOF {
		return &MalformedError{Detail: "something stands behind the end of the JSON value"}
	}
	return nil
}

func (r *reader) release() {
	r.source = bytes.Buffer{}
	r.decoder.Reset(&r.source)
	readers.Put(r)
}

// object reads an object and hands each name to member, which reads the value or refuses it with [unknown].
func (r *reader) object(field string, member func(name string) error) error {
	if err := r.want(jsontext.KindBeginObject, field, "must be a JSON object"); err != nil {
		return err
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	for r.decoder.PeekKind() != jsontext.KindEndObject {
		name, err := r.unquoted()
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	_, err := r.decoder.ReadToken()
	return err
}

// array reads an array and calls element before each of its values.
func (r *reader) array(field string, element func(i int) error) error {
	if err := r.want(jsontext.KindBeginArray, field, "must be a list"); err != nil {
		return err
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return err
	}
	for i := 0; r.decoder.PeekKind() != jsontext.KindEndArray; i++ {
		if err := element(i); err != nil {
			return err
		}
	}
	_, err := r.decoder.ReadToken()
	return err
}

// want returns an error unless a value of the kind comes next.
func (r *reader) want(kind jsontext.Kind, field, reason string) error {
	switch r.decoder.PeekKind() {
	case kind:
		return nil
	case jsontext.KindInvalid, jsontext.KindEndObject, jsontext.KindEndArray:
		_, err := r.decoder.ReadValue()
		return err
	}
	return store.Invalid(field, reason)
}

// null reports whether null comes next, and reads it then.
func (r *reader) null() bool {
	if r.decoder.PeekKind() != jsontext.KindNull {
		return false
	}
	_, err := r.decoder.ReadToken()
	return err == nil
}

// unquoted reads a string. The result is good until the next call.
func (r *reader) unquoted() (string, error) {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return "", err
	}
	r.scratch, err = jsontext.AppendUnquote(r.scratch[:0], raw)
	return utils.UnsafeString(r.scratch), err
}

// text reads a string. The result is good until the next call.
func (r *reader) text(field string) (string, error) {
	if err := r.want(jsontext.KindString, field, "must be a string"); err != nil {
		return "", err
	}
	return r.unquoted()
}

// number reads a number and returns it as it is written, or, where texts are taken too, what a string holds. The
// result is good until the next call.
func (r *reader) number(field string, texts bool) (string, error) {
	if texts && r.decoder.PeekKind() == jsontext.KindString {
		return r.unquoted()
	}
	if err := r.want(jsontext.KindNumber, field, "must be a number"); err != nil {
		return "", err
	}
	raw, err := r.decoder.ReadValue()
	return utils.UnsafeString(raw), err
}

// decimal reads an exact number, as a number or as a string that holds one.
func (r *reader) decimal(field string) (store.Decimal, error) {
	text, err := r.number(field, true)
	if err != nil {
		return store.Decimal{}, err
	}
	return store.ParseDecimal(field, text)
}

// integer reads a whole number between two bounds, in any spelling of JSON.
func (r *reader) integer(field string, lowest, highest int64, texts bool) (int64, error) {
	text, err := r.number(field, texts)
	if err != nil {
		return 0, err
	}
	number, err := store.ParseDecimal(field, text)
	if err != nil {
		return 0, err
	}
	whole, err := number.Points(field, 0, math.MaxInt64)
	if err != nil || int64(whole) < lowest || int64(whole) > highest {
		return 0, store.Invalid(field, "must be a whole number from "+strconv.FormatInt(lowest, 10)+" to "+
			strconv.FormatInt(highest, 10))
	}
	return int64(whole), nil
}

// instant reads a time as RFC 3339 writes it.
func (r *reader) instant(field string) (time.Time, error) {
	text, err := r.text(field)
	if err != nil {
		return time.Time{}, err
	}
	var at time.Time
	if err := at.UnmarshalText([]byte(text)); err != nil { // stricter than time.Parse
		return time.Time{}, store.Invalid(field, "must be a time such as 2026-11-30T18:04:05.123Z")
	}
	if at.UnixMilli() < 0 { // the zero time among them, which stands for none further in
		return time.Time{}, store.Invalid(field, "must not be before 1970")
	}
	return at.UTC(), nil
}

// duration reads a time span such as 90s or 24h.
func (r *reader) duration(field string) (time.Duration, error) {
	text, err := r.text(field)
	if err != nil {
		return 0, err
	}
	span, err := time.ParseDuration(text)
	if err != nil || span < 0 {
		return 0, store.Invalid(field, "must be a time span such as 90s or 24h")
	}
	return span, nil
}

// raw reads any value as it stands, up to a depth and a length.
func (r *reader) raw(field string, deepest, longest int) ([]byte, error) {
	value, err := r.decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	if depth(value) > deepest || len(value) > longest {
		return nil, store.Invalid(field, "must be at most "+strconv.Itoa(longest)+" bytes and "+
			strconv.Itoa(deepest)+" levels deep")
	}
	return bytes.Clone(value), nil
}

// depth returns how deep valid JSON nests.
func depth(value []byte) int {
	level, deepest, quoted := 0, 0, false
	for i := 0; i < len(value); i++ {
		switch b := value[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			level++
			deepest = max(deepest, level)
		case b == '}' || b == ']':
			level--
		}
	}
	return deepest
}

// unknown is the error for a name that an object must not have.
func unknown(name string) error {
	return store.Invalid(shown(name), "is not a field of this call; fields are spelled exactly")
}
