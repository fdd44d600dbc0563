package api

import (
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"leaderboard/templates"
)

// curl returns the call as a command. $URL stands for the server, $KEY for an API key.
func (d *description) curl(path string, item *pathItem, o *operation) string {
	var query []string
	for _, p := range slices.Concat(item.Parameters, o.Parameters) {
		p = d.parameter(p)
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(p.Example))
		case p.In == "query" && p.Required:
			query = append(query, url.QueryEscape(p.Name)+"="+url.QueryEscape(p.Example))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	body := ""
	if media := o.RequestBody.Content.first(); media != nil {
		body = inline(&media.Example)
	}
	command := "curl "
	if posts := o.method == "POST" && body != ""; o.method != "GET" && !posts {
		command += "-X " + o.method + " "
	}
	command += `"$URL` + path + `"`
	if o.scope() != "" {
		command += ` -H "Authorization: Bearer $KEY"`
	}
	if o.byPlayers() {
		command += ` -H "Authorization: Bearer $TOKEN"`
	}
	if body != "" {
		command += " \\\n  -H 'Content-Type: application/json' -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'"
	}
	return command
}

// exampleText returns an example as JSON that people read: what fits on a line stands on one. An example that is text
// stays as it is.
func exampleText(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return string(appendExample(nil, n, ""))
}

const exampleWidth = 108

func appendExample(to []byte, n *yaml.Node, indent string) []byte {
	n = aliased(n)
	line := inline(n)
	if len(indent)+len(line) <= exampleWidth || n.Kind == yaml.ScalarNode {
		return append(to, line...)
	}
	opening, closing, step := byte('{'), byte('}'), 2
	if n.Kind == yaml.SequenceNode {
		opening, closing, step = '[', ']', 1
	}
	to = append(to, opening)
	for i := 0; i < len(n.Content); i += step {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(to, "\n  "+indent...)
		if step == 2 {
			to = append(to, inline(n.Content[i])+": "...)
		}
		to = appendExample(to, n.Content[i+step-1], indent+"  ")
	}
	to = append(to, "\n"+indent...)
	return append(to, closing)
}

// inline returns an example as JSON on one line, "" where there is none.
func inline(n *yaml.Node) string {
	n = aliased(n)
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, inline(n.Content[i])+": "+inline(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case yaml.SequenceNode:
		for _, element := range n.Content {
			parts = append(parts, inline(element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yaml.ScalarNode:
		if n.Tag != "!!str" && n.Tag != "!!timestamp" {
			return n.Value // numbers, booleans and null are written alike
		}
		quoted, _ := jsontext.AppendQuote(nil, n.Value) // fails for invalid UTF-8 only, which no YAML holds
		return string(quoted)
	}
	return ""
}

func aliased(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// proseOf splits a text into paragraphs, and those into plain words, `code` and **strong** words.
func proseOf(text string) (paragraphs []templates.Prose) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var prose templates.Prose
		for i, part := range strings.Split(strings.ReplaceAll(paragraph, "\n", " "), "`") {
			if i%2 == 1 {
				prose = append(prose, templates.Span{Text: part, Code: true})
				continue
			}
			for j, words := range strings.Split(part, "**") {
				if words != "" {
					prose = append(prose, templates.Span{Text: words, Strong: j%2 == 1})
				}
			}
		}
		if len(prose) > 0 {
			paragraphs = append(paragraphs, prose)
		}
	}
	return paragraphs
}
