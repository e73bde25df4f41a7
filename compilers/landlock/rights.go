package landlock

// abi is the version of the kernel's interface whose rights are named here. A kernel that
// knows fewer of them cannot hold such a rule set.
const abi = 6

// The rights to files and directories, as the kernel numbers them.
const (
	execute uint64 = 1 << iota
	writeFile
	readFile
	readDir
	removeDir
	removeFile
	makeChar
	makeDir
	makeReg
	makeSock
	makeFifo
	makeBlock
	makeSym
	refer
	truncate
	ioctlDev

	allFiles = 1<<iota - 1
)

const (
	readFiles  = readFile | execute
	writeFiles = writeFile | truncate
	// No device can be made: that would be a way round the rules for those that are there.
	changeDirs = removeDir | removeFile | makeDir | makeReg | makeSock | makeFifo | makeSym | refer
	// ofFiles are the rights that the kernel takes in a rule for what is no directory.
	ofFiles = execute | writeFile | readFile | truncate | ioctlDev
)

var rightNames = [...]string{
	"execute", "write_file", "read_file", "read_dir", "remove_dir", "remove_file", "make_char", "make_dir", "make_reg",
	"make_sock", "make_fifo", "make_block", "make_sym", "refer", "truncate", "ioctl_dev",
}

// names spells rights out, in the kernel's order.
func names(rights uint64) []string {
	out := []string{}
	for i, name := range rightNames {
		if rights&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Bits is the rights that names name, as the kernel numbers them. The second result is
// false where one of them is unknown.
func Bits(names []string) (uint64, bool) {
	var out uint64
	for _, name := range names {
		known := false
		for i, n := range rightNames {
			if n == name {
				out |= 1 << i
				known = true
			}
		}
		if !known {
			return 0, false
		}
	}
	return out, true
}
