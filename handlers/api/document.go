package api

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// description is the description of the API as far as the page about it needs it. What is written in an order that
// means something is kept in it.
type description struct {
	Info struct {
		Title       string
		Description string
	}
	Tags []struct {
		Name        string
		Description string
	}
	Paths      ordered[pathItem]
	Components struct {
		Parameters ordered[parameter]
		Responses  ordered[response]
		Schemas    ordered[schema]
	}
}

type pathItem struct {
	Parameters             []parameter
	Get, Post, Put, Delete *operation
}

type operation struct {
	method      string
	OperationID string `yaml:"operationId"`
	Tags        []string
	Summary     string
	Description string
	Security    []map[string][]string
	Parameters  []parameter
	RequestBody struct{ Content content } `yaml:"requestBody"`
	Responses   ordered[response]
}

type parameter struct {
	reference   `yaml:",inline"`
	Name        string
	In          string
	Description string
	Required    bool
	Example     string
	Schema      schema
}

type response struct {
	reference   `yaml:",inline"`
	Description string
	Content     content
}

type content struct{ ordered[media] }

type media struct {
	Schema  schema
	Example yaml.Node
}

type schema struct {
	reference   `yaml:",inline"`
	Type        oneOrMore
	Description string
	Format      string
	Enum        []string
	Const       string
	Default     string
	Minimum     string
	Maximum     string
	Required    []string
	Properties  ordered[schema]
	AllOf       []schema `yaml:"allOf"`
	OneOf       []schema `yaml:"oneOf"`
	Items       *schema
}

// reference points to a component; empty, the value stands where it is.
type reference struct {
	Ref string `yaml:"$ref"`
}

// name returns the last part of a reference.
func (r reference) name() string { return r.Ref[strings.LastIndexByte(r.Ref, '/')+1:] }

func readDescription(text string) (*description, error) {
	d := &description{}
	return d, yaml.Unmarshal([]byte(text), d)
}

// operations returns the calls of a path.
func (p *pathItem) operations() (calls []*operation) {
	for _, o := range []struct {
		method string
		call   *operation
	}{{"GET", p.Get}, {"POST", p.Post}, {"PUT", p.Put}, {"DELETE", p.Delete}} {
		if o.call != nil {
			o.call.method = o.method
			calls = append(calls, o.call)
		}
	}
	return calls
}

// scope returns the scope that a call needs; empty, it is open.
func (o *operation) scope() string {
	if len(o.Security) == 0 {
		return ""
	}
	return strings.Join(o.Security[0]["key"], " ") // an open call that shows more with a key names no key first
}

// byPlayers reports whether a call needs a player's token.
func (o *operation) byPlayers() bool {
	if len(o.Security) == 0 {
		return false
	}
	_, needs := o.Security[0]["player"]
	return needs
}

func (c content) first() *media {
	if len(c.ordered) == 0 {
		return nil
	}
	return &c.ordered[0].value
}

func (s *schema) requires(name string) bool { return slices.Contains(s.Required, name) }

// schema follows references to what they mean in the end.
func (d *description) schema(s *schema) *schema {
	for s.Ref != "" {
		target, ok := d.Components.Schemas.get(s.name())
		if !ok {
			return s
		}
		s = &target
	}
	return s
}

func (d *description) parameter(p parameter) parameter {
	if target, ok := d.Components.Parameters.get(p.name()); ok {
		return target
	}
	return p
}

func (d *description) response(r response) response {
	if target, ok := d.Components.Responses.get(r.name()); ok {
		return target
	}
	return r
}

// ordered is a mapping in the order in which it is written.
type ordered[T any] []named[T]

type named[T any] struct {
	name  string
	value T
}

func (o ordered[T]) get(name string) (value T, ok bool) {
	for _, n := range o {
		if n.name == name {
			return n.value, true
		}
	}
	return value, false
}

// UnmarshalYAML is called by package yaml.
func (o *ordered[T]) UnmarshalYAML(node *yaml.Node) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		n := named[T]{name: node.Content[i].Value}
		if err := node.Content[i+1].Decode(&n.value); err != nil {
			return err
		}
		*o = append(*o, n)
	}
	return nil
}

// oneOrMore is a text or a list of them.
type oneOrMore []string

// UnmarshalYAML is called by package yaml.
func (o *oneOrMore) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*o = oneOrMore{node.Value}
		return nil
	}
	return node.Decode((*[]string)(o))
}
