package exposure

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/lint/secrets-exposed.md")

func TestLooksSecret(t *testing.T) {
	for path, want := range map[string]string{
		".env": "environment settings", "app/.ENV.local": "environment settings", "prod.env": "environment settings",
		".env.example": "", "config/.env.sample": "", "secrets.example.yml": "",
		"home/.ssh/id_ed25519": "a private SSH key", "id_rsa.pub": "", "ssh/id_rsa": "a private SSH key",
		".ssh/config": "SSH keys and hosts", "/root/.ssh/known_hosts": "SSH keys and hosts",
		"tls/server.pem": "a private key", "tls/ca-key.pem": "a private key", "tls/ca.pem": "", "tls/fullchain.pem": "",
		"keys/release.key": "a private key", "src/keys.py": "", "src/monkey.py": "", "keyboard.md": "",
		"app.p12": "a key store", "vault.kdbx": "a password store",
		".netrc": "a password file", "x/.npmrc": "credentials of a package registry", ".cargo/credentials.toml": "credentials of a package registry",
		".aws/credentials": "credentials of a cloud", ".aws/cli/cache": "", "gcp-key-prod.json": "credentials of a cloud", "service_account.json": "credentials of a cloud",
		".docker/config.json": "credentials of a container registry", "docker/config.json": "",
		".kube/config": "credentials of a cluster", "config": "", ".git-credentials": "credentials of git", ".git/config": "",
		"secrets.yml": "credentials, by its name", "deploy/Credentials": "credentials, by its name", "client_secret_42.json": "credentials, by its name",
		"src/secrets.py": "", "docs/passwords.md": "", "passwords.txt": "credentials, by its name",
		"infra/prod.tfstate": "Terraform state and variables", "wallet.dat": "a wallet", "": "", ".": "", "a/../.env": "environment settings",
	} {
		if got := LooksSecret(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

// TestEveryPatternIsValid holds each pattern to a path that is written after it.
func TestEveryPatternIsValid(t *testing.T) {
	for i, p := range Patterns {
		path := p.Glob
		for strings.Contains(path, "{") {
			open := strings.IndexByte(path, '{')
			end := open + strings.IndexByte(path[open:], '}')
			first, _, _ := strings.Cut(path[open+1:end], ",")
			path = path[:open] + first + path[end+1:]
		}
		path = "some/where/" + strings.NewReplacer("**", "a/b", "*", "x").Replace(path)
		if !patterns[i].Match(path) {
			t.Errorf("%s does not fit %s", p.Glob, path)
		}
	}
}

// TestPageListsThePatterns holds the documentation to the list.
func TestPageListsThePatterns(t *testing.T) {
	const file, head = "../../docs/lint/secrets-exposed.md", "| path | holds |\n|---|---|\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := ""
	for _, p := range Patterns {
		rows += fmt.Sprintf("| `%s` | %s |\n", p.Glob, p.What)
	}
	begin := strings.Index(string(text), head)
	if begin < 0 {
		t.Fatal("the page has no table")
	}
	end := begin + len(head)
	for strings.HasPrefix(string(text[end:]), "| ") {
		end += strings.IndexByte(string(text[end:]), '\n') + 1
	}
	if string(text[begin+len(head):end]) == rows {
		return
	}
	if !*update {
		t.Fatal("the page lists other patterns; run with -update")
	}
	if err := os.WriteFile(file, []byte(string(text[:begin])+head+rows+string(text[end:])), 0o644); err != nil {
		t.Fatal(err)
	}
}
