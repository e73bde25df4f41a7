package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what this binary was made from.
type build struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
}

func buildInfo() build {
	b := build{Schema: "umwelt.version/1", Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func versionCommand(std *streams) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:               "version",
		Short:             "Print the version and what it was built from",
		Example:           "  umwelt version\n  umwelt version --format json",
		Args:              args(0, 0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	check := formatFlag(c, &format, "text", "json")
	c.RunE = func(_ *cobra.Command, _ []string) error {
		if err := check(); err != nil {
			return err
		}
		b := buildInfo()
		if format == "json" {
			return std.writeJSON("", b)
		}
		text := fmt.Sprintf("umwelt %s\n%s %s\n", b.Version, b.Go, b.Platform)
		if b.Commit != "" {
			text += "commit " + b.Commit
			if b.Modified {
				text += " with changes"
			}
			text += ", " + b.Time + "\n"
		}
		return std.print([]byte(text))
	}
	return c
}
