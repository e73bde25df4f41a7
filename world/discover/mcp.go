package discover

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"umwelt/diag"
	"umwelt/world"
)

// maxToolList bounds the tool list of a server.
const maxToolList = 16 << 20

// mcpList is the result of an MCP server's tools/list, alone or inside its JSON-RPC answer.
type mcpList struct {
	Tools  *[]mcpTool `json:"tools"`
	Result *struct {
		Tools *[]mcpTool `json:"tools"`
	} `json:"result"`
}

type mcpTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	} `json:"inputSchema"`
}

// mcp finds the tools that an MCP server offers, from its tool list in a JSON file below the
// project root.
func mcp(req world.Request) world.Result {
	var res world.Result
	t := typeOf(&req, &res, toolType)
	file := req.Recipe.Text("file", "")
	at := req.Recipe.Where("file")
	if t == nil || req.Recipe.Diagnostics.HasErrors() {
		return res
	}
	if file == "" {
		res.Diagnostics.Errorf(diag.Matcher, req.Recipe.At, "the matcher mcp needs the key file")
		return res
	}
	full, ok := insideRoot(&req, &res, file, at)
	if !ok {
		return res
	}
	text, err := readSmall(full, maxToolList)
	var list mcpList
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		res.Diagnostics.Errorf(diag.Matcher, at, "the tool list %s cannot be read: %s", diag.Quote(file), reason(err))
		return res
	}
	tools := list.Tools
	if tools == nil && list.Result != nil {
		tools = list.Result.Tools
	}
	if tools == nil {
		res.Diagnostics.Errorf(diag.Matcher, at, "%s holds no tool list: the key tools is missing", diag.Quote(file))
		return res
	}
	for _, tool := range *tools {
		if tool.Name == "" || strings.Contains(tool.Name+tool.Description, "\x00") {
			res.Diagnostics.Errorf(diag.Matcher, at, "%s lists a tool without a usable name", diag.Quote(file))
			continue
		}
		attrs := []world.Attribute{attr("name", tool.Name)}
		if tool.Description != "" {
			attrs = append(attrs, attr("description", tool.Description))
		}
		if n, ok := typed(req.Registry, t, "param-count", strconv.Itoa(len(tool.InputSchema.Properties))); ok {
			attrs = append(attrs, n)
		}
		res.Entities = append(res.Entities, made(t, tool.Name, attrs...))
	}
	res.Entities = byID(res.Entities)
	return res
}

// insideRoot resolves a file that a recipe names. It must lie below the project root, links
// resolved, unless the caller allows more.
func insideRoot(req *world.Request, res *world.Result, file string, at diag.Span) (string, bool) {
	if slices.Contains(strings.Split(file, "/"), "..") {
		res.Diagnostics.Errorf(diag.BadPath, at, "the path %s has a .. in it", diag.Quote(file))
		return "", false
	}
	full := filepath.FromSlash(file)
	if !filepath.IsAbs(full) {
		full = filepath.Join(req.Root, full)
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		res.Diagnostics.Errorf(diag.Matcher, at, "%s cannot be read: %s", diag.Quote(file), reason(err))
		return "", false
	}
	b := boundsOf(req.Root)
	if !req.AllowOutside && real != b.real && !strings.HasPrefix(real, strings.TrimSuffix(b.real, "/")+"/") {
		res.Diagnostics.Errorf(diag.BadPath, at, "%s lies outside the project root", diag.Quote(file))
		return "", false
	}
	return real, true
}
