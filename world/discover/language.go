package discover

import "strings"

// languages names the language of a file by the end of its name, in lower case.
var languages = map[string]string{
	"bash": "shell", "c": "c", "cc": "cpp", "clj": "clojure", "cpp": "cpp", "cs": "csharp", "css": "css",
	"cu": "cuda", "cxx": "cpp", "dart": "dart", "el": "elisp", "erl": "erlang", "ex": "elixir", "exs": "elixir",
	"f90": "fortran", "fs": "fsharp", "go": "go", "h": "c", "hcl": "hcl", "hh": "cpp", "hpp": "cpp", "hs": "haskell",
	"html": "html", "java": "java", "jl": "julia", "js": "javascript", "json": "json", "jsx": "javascript",
	"kt": "kotlin", "lua": "lua", "m": "objective-c", "md": "markdown", "mjs": "javascript", "ml": "ocaml",
	"mli": "ocaml", "nim": "nim", "nix": "nix", "php": "php", "pl": "perl", "pm": "perl", "proto": "protobuf",
	"ps1": "powershell", "py": "python", "pyi": "python", "r": "r", "rb": "ruby", "rs": "rust", "rst": "rst",
	"s": "assembly", "scala": "scala", "scss": "scss", "sh": "shell", "sql": "sql", "swift": "swift", "tcl": "tcl",
	"tf": "hcl", "toml": "toml", "ts": "typescript", "tsx": "typescript", "umw": "umwelt", "vue": "vue",
	"xml": "xml", "yaml": "yaml", "yml": "yaml", "zig": "zig", "zsh": "shell",
}

// wholeNames are languages that a whole name tells.
var wholeNames = map[string]string{"Makefile": "make", "GNUmakefile": "make", "Dockerfile": "dockerfile", "CMakeLists.txt": "cmake"}

// languageOf is the language of a file by its name, or "".
func languageOf(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if dot > 0 && len(name)-dot-1 <= 5 {
		ext := name[dot+1:]
		if l, ok := languages[ext]; ok {
			return l
		}
		if l, ok := languages[strings.ToLower(ext)]; ok {
			return l
		}
	}
	if c := name[0]; c == 'M' || c == 'G' || c == 'D' || c == 'C' {
		return wholeNames[name]
	}
	return ""
}
