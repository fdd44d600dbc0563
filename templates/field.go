package templates

import (
	"strings"

	"github.com/a-h/templ"
)

// attributes are what an element of a form has, in order, without those that are empty.
type attributes templ.OrderedAttributes

func (a *attributes) text(name, value string) {
	if value != "" {
		*a = append(*a, templ.KeyValue[string, any]{Key: name, Value: value})
	}
}

func (a *attributes) flag(name string, set bool) {
	if set {
		*a = append(*a, templ.KeyValue[string, any]{Key: name, Value: true})
	}
}

// fieldAttributes are what every kind of field has: its name, and what belongs to it for those who do not see it.
func fieldAttributes(f Field) templ.OrderedAttributes {
	var a attributes
	a.text("id", "f-"+f.Name)
	a.text("name", f.Name)
	a.text("maxlength", f.Length)
	a.flag("required", f.Needed)
	a.flag("disabled", f.Locked)
	var described []string
	if f.Hint != "" {
		described = append(described, "hint-"+f.Name)
	}
	if f.Wrong != "" {
		described = append(described, "wrong-"+f.Name)
		a.text("aria-invalid", "true")
	}
	a.text("aria-describedby", strings.Join(described, " "))
	return templ.OrderedAttributes(a)
}

// inputAttributes are what a field of one line has besides.
func inputAttributes(f Field) templ.OrderedAttributes {
	var a attributes
	a.text("type", f.Kind)
	a.text("value", f.Value)
	a.text("min", f.Min)
	a.text("max", f.Max)
	if f.Kind == "datetime-local" {
		a.text("step", "any")
	}
	if len(f.Options) > 0 {
		a.text("list", "list-"+f.Name)
	}
	autocomplete := "off"
	if f.Kind == "password" {
		autocomplete = "new-password"
	}
	a.text("autocomplete", autocomplete)
	return templ.OrderedAttributes(a)
}
