package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestReadmeListsEverySettingWithItsVariableAndDefault(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\n") {
		if flag, rest, ok := strings.Cut(strings.TrimPrefix(line, "| `--"), "` | "); ok && strings.HasPrefix(line, "| `--") {
			rows[flag] = rest
		}
	}
	parser, err := kong.New(&commandLine{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Children {
		if command.Name != "serve" {
			continue
		}
		for _, flag := range command.Flags {
			want := "`" + strings.Join(flag.Envs, "`, `") + "` | "
			if flag.HasDefault {
				want += "`" + flag.Default + "` |"
			}
			if row, ok := rows[flag.Name]; !ok || !strings.HasPrefix(row, want) {
				t.Errorf("README says of --%s: %q, want it to begin with %q", flag.Name, row, want)
			}
			delete(rows, flag.Name)
		}
	}
	for flag := range rows {
		t.Errorf("README has a setting --%s, which serve does not", flag)
	}
}
