package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// Run prints the version of the module, the commit it was built from, and Go's version.
func (versionCmd) Run(std streams) error {
	_, err := fmt.Fprintln(std.out, "leaderboard", buildVersion(), runtime.Version())
	return err
}

// buildVersion tells what the program was built from, as far as the build knows.
func buildVersion() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := build.Main.Version
	for _, setting := range build.Settings {
		switch {
		case setting.Key == "vcs.revision" && version == "(devel)":
			version = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true" && version == build.Main.Version:
			version += "+changes"
		}
	}
	return version
}
