package main

import "github.com/spf13/cobra"

func explainCommand(std *streams) *cobra.Command {
	return &cobra.Command{Use: "explain", RunE: func(*cobra.Command, []string) error { return nil }}
}
