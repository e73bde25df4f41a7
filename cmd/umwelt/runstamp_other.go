//go:build !linux

package main

import "io/fs"

func stampOf(info fs.FileInfo) stamp {
	return stamp{mode: info.Mode(), size: info.Size(), status: info.ModTime().UnixNano()}
}
