package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"leaderboard/templates"
)

// Docs returns the description of the API as a page shows it.
func Docs() (templates.Docs, error) {
	d, err := readDescription(openAPI)
	if err != nil {
		return templates.Docs{}, fmt.Errorf("api: read the description: %w", err)
	}
	docs := templates.Docs{
		Page:  templates.Page{Title: "API · " + d.Info.Title, Description: "Every call, with examples."},
		Intro: proseOf(d.Info.Description),
	}
	for _, tag := range d.Tags {
		group := templates.DocsGroup{Anchor: strings.ToLower(tag.Name), Title: tag.Name, Text: proseOf(tag.Description)}
		for _, path := range d.Paths {
			for _, o := range path.value.operations() {
				if o.Tags[0] == tag.Name {
					group.Calls = append(group.Calls, d.docsCall(path.name, &path.value, o))
				}
			}
		}
		docs.Groups = append(docs.Groups, group)
	}
	for _, s := range d.Components.Schemas {
		if fields := d.docsFields(&s.value); len(fields) > 0 && !strings.HasSuffix(s.name, fieldsOnly) {
			docs.Shapes = append(docs.Shapes, templates.DocsShape{
				Anchor: s.name, Title: s.name, Text: proseOf(s.value.Description), Fields: fields,
			})
		}
	}
	codes, _ := d.Components.Schemas.get("Code")
	for _, code := range codes.OneOf {
		docs.Codes = append(docs.Codes, templates.DocsField{Name: code.Const, Text: proseOf(code.Description)})
	}
	return docs, nil
}

// fieldsOnly ends the name of a schema that only lends its fields to others.
const fieldsOnly = "Fields"

func (d *description) docsCall(path string, item *pathItem, o *operation) templates.DocsCall {
	call := templates.DocsCall{
		Anchor: o.OperationID, Method: o.method, Path: path, Title: o.Summary, Text: proseOf(o.Description),
		Scope: o.scope(), Player: o.byPlayers(), Curl: d.curl(path, item, o),
	}
	for _, p := range slices.Concat(item.Parameters, o.Parameters) {
		p = d.parameter(p)
		field := d.docsField(p.Name, p.In, &p.Schema, p.Required)
		field.Text = proseOf(p.Description)
		call.Parameters = append(call.Parameters, field)
	}
	if media := o.RequestBody.Content.first(); media != nil {
		call.Body = &templates.DocsBody{Shape: media.Schema.name(), Fields: d.docsFields(&media.Schema)}
	}
	for _, r := range o.Responses {
		told := d.response(r.value)
		media := told.Content.first()
		if media != nil && media.Schema.name() == "Problem" {
			codes, _ := media.Schema.Properties.get("code")
			call.Problems = append(call.Problems, templates.DocsProblem{Status: r.name, Codes: codes.Enum})
			continue
		}
		reply := templates.DocsReply{Status: r.name, Text: proseOf(told.Description)}
		if media != nil {
			reply.Shape = media.Schema.name()
			reply.Example = exampleText(&media.Example)
		}
		call.Replies = append(call.Replies, reply)
	}
	return call
}

// docsFields returns what an object is made of: nothing for other values. What is named elsewhere is not told again.
func (d *description) docsFields(s *schema) (fields []templates.DocsField) {
	for i := range s.AllOf {
		base := d.schema(&s.AllOf[i])
		fields = append(fields, d.docsFields(base)...)
	}
	for _, p := range s.Properties {
		field := d.docsField(p.name, "", &p.value, s.requires(p.name))
		fields = append(fields, field)
		inner := d.schema(&p.value)
		prefix := p.name + "."
		if inner.Items != nil && inner.Items.Ref == "" {
			inner, prefix = inner.Items, p.name+"[]."
		}
		if p.value.Ref != "" && len(inner.Properties) > 0 {
			continue // a shape of its own
		}
		for _, below := range d.docsFields(inner) {
			below.Name = prefix + below.Name
			fields = append(fields, below)
		}
	}
	return fields
}

func (d *description) docsField(name, where string, s *schema, required bool) templates.DocsField {
	whole := d.schema(s)
	field := templates.DocsField{
		Name: name, Where: where, Type: d.typeText(s), Required: required,
		Text: proseOf(cmp.Or(s.Description, whole.Description)),
	}
	switch {
	case d.isShape(s):
		field.Shape = s.name()
	case whole.Items != nil && d.isShape(whole.Items):
		field.Shape = whole.Items.name()
	}
	return field
}

// isShape reports whether a schema is an object that the page shows under its own name.
func (d *description) isShape(s *schema) bool {
	whole := d.schema(s)
	return s.name() != "" && len(whole.Properties)+len(whole.AllOf) > 0
}

// unbounded is how many digits a bound has that nobody meets: it stands for what a number can hold.
const unbounded = 16

// typeText says in words what a value may be.
func (d *description) typeText(s *schema) string {
	if d.isShape(s) {
		return s.name()
	}
	s = d.schema(s)
	if len(s.OneOf) > 0 && len(s.Type) == 0 {
		var kinds []string
		for i := range s.OneOf {
			kinds = append(kinds, d.typeText(&s.OneOf[i]))
		}
		return strings.Join(kinds, " or ")
	}
	kinds := slices.DeleteFunc(slices.Clone(s.Type), func(kind string) bool { return kind == null })
	text := cmp.Or(strings.Join(kinds, " or "), "anything")
	switch {
	case len(s.Enum) > 0:
		text = strings.Join(s.Enum, " or ")
	case s.Const != "":
		text = s.Const
	case s.Items != nil:
		text = "list of " + d.typeText(s.Items)
	case s.Minimum != "" && s.Maximum != "" && len(s.Maximum) < unbounded:
		text += " " + s.Minimum + " to " + s.Maximum
	case s.Minimum != "":
		text += " from " + s.Minimum
	case s.Format == "date-time":
		text = "time"
	}
	switch {
	case len(s.Type) == 1 && s.Type[0] == null:
		return null
	case slices.Contains(s.Type, null):
		text += " or " + null
	case s.Default != "":
		text += ", default " + s.Default
	}
	return text
}

const null = "null"
