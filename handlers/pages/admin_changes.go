package pages

import (
	"strings"

	"leaderboard/store"
	"leaderboard/templates"
)

// apply changes settings to what the form says. What it does not mention stays.
func (f form) apply(s *store.Settings) error {
	for _, g := range settingGroups {
		for i := range g.settings {
			of := &g.settings[i]
			if !f.has(of.name) {
				continue
			}
			read := f.text
			if of.kind == "area" {
				read = f.lines
			}
			text, err := read(of.name)
			if err == nil {
				err = of.set(s, text)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// carried returns the form for the step behind the preview.
func (f form) carried() []templates.Hidden {
	var fields []templates.Hidden
	if f.has("id") {
		fields = append(fields, templates.Hidden{Name: "id", Value: f.first("id")})
	}
	for _, g := range settingGroups {
		for _, of := range g.settings {
			if f.has(of.name) {
				fields = append(fields, templates.Hidden{Name: of.name, Value: f.first(of.name)})
			}
		}
	}
	return fields
}

// settingsForm returns the form, filled with what was sent and otherwise with the settings. Used is a board whose order
// rests on some of them; nil: they can all change.
func settingsForm(sent form, s *store.Settings, used *store.BoardState) templates.SettingsForm {
	var out templates.SettingsForm
	if used != nil && used.Total > 0 {
		out.Locked = "Somebody has a score this season, so what the order rests on cannot change before the next."
	}
	for _, g := range settingGroups {
		group := templates.Group{Title: g.title}
		for _, of := range g.settings {
			field := templates.Field{
				Name: of.name, Label: of.label, Hint: of.hint, Kind: of.kind, Value: of.get(s), Min: of.min, Max: of.max, Length: of.length,
				Locked: of.frozen && out.Locked != "" || of.name == "starts_at" && used != nil && used.Season.Number > 1,
			}
			if sent.has(of.name) {
				field.Value = sent.first(of.name)
			}
			for _, o := range of.options {
				o.Chosen = o.Value == field.Value
				field.Options = append(field.Options, o)
			}
			group.Fields = append(group.Fields, field)
		}
		out.Groups = append(out.Groups, group)
	}
	return out
}

// markWrong marks the field that an error names, and returns what to say at the top.
func markWrong(f *templates.SettingsForm, e *store.InvalidError) string {
	name, _, _ := strings.Cut(e.Field, "[")
	for g := range f.Groups {
		for i := range f.Groups[g].Fields {
			field := &f.Groups[g].Fields[i]
			if field.Name != name {
				continue
			}
			field.Wrong = sentence(e.Reason)
			if e.Field != name {
				field.Wrong = sentence(e.Field + " " + e.Reason)
			}
			return field.Label + ": " + strings.ToLower(field.Wrong[:1]) + field.Wrong[1:]
		}
	}
	return sentence(e.Field + " " + e.Reason)
}

// changes lists in what settings differ. From nothing, all of them count.
func changes(from, to *store.Settings) []templates.Change {
	var list []templates.Change
	for _, g := range settingGroups {
		for _, of := range g.settings {
			tell := of.tell
			if tell == nil {
				tell = of.get
			}
			change := templates.Change{Label: of.label, After: orNone(tell(to))}
			if from != nil {
				change.Before = orNone(tell(from))
			}
			secret := of.name == "webhook.secret" && secretOf(from) != secretOf(to)
			if secret {
				change.Before, change.After = "", "a new one"
			}
			if secret || from != nil && of.get(from) != of.get(to) || from == nil && of.get(to) != "" {
				list = append(list, change)
			}
		}
	}
	return list
}

func secretOf(s *store.Settings) string {
	if s == nil || s.Webhook == nil {
		return ""
	}
	return s.Webhook.Secret
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// changesWords says changes in one line, for the audit.
func changesWords(list []templates.Change) string {
	var words []string
	for _, c := range list {
		line := strings.ToLower(c.Label) + " "
		if c.Before != "" {
			line += c.Before + " → "
		}
		words = append(words, line+c.After)
	}
	return strings.Join(words, ", ")
}
