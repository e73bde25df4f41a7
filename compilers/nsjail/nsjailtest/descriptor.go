// Package nsjailtest reads nsjail's configuration in tests.
package nsjailtest

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Descriptor is the part of nsjail's configuration message that its documentation names.
// The text form goes by field names, so the numbers are the test's own.
func Descriptor() protoreflect.MessageDescriptor {
	type field struct {
		names string
		typ   descriptorpb.FieldDescriptorProto_Type
		label descriptorpb.FieldDescriptorProto_Label
		of    string
	}
	const (
		one      = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		many     = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
		required = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED
		str      = descriptorpb.FieldDescriptorProto_TYPE_STRING
		bin      = descriptorpb.FieldDescriptorProto_TYPE_BYTES
		boolean  = descriptorpb.FieldDescriptorProto_TYPE_BOOL
		u32      = descriptorpb.FieldDescriptorProto_TYPE_UINT32
		u64      = descriptorpb.FieldDescriptorProto_TYPE_UINT64
		i32      = descriptorpb.FieldDescriptorProto_TYPE_INT32
		enum     = descriptorpb.FieldDescriptorProto_TYPE_ENUM
		msg      = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	)
	message := func(name string, fields ...field) *descriptorpb.DescriptorProto {
		m := &descriptorpb.DescriptorProto{Name: proto.String(name)}
		for _, f := range fields {
			for _, n := range strings.Fields(f.names) {
				d := &descriptorpb.FieldDescriptorProto{
					Name: proto.String(n), Number: proto.Int32(int32(len(m.Field) + 1)), Type: f.typ.Enum(), Label: f.label.Enum(),
				}
				if f.of != "" {
					d.TypeName = proto.String(".nsjail." + f.of)
				}
				m.Field = append(m.Field, d)
			}
		}
		return m
	}
	enumOf := func(name string, values ...string) *descriptorpb.EnumDescriptorProto {
		e := &descriptorpb.EnumDescriptorProto{Name: proto.String(name)}
		for i, v := range values {
			e.Value = append(e.Value, &descriptorpb.EnumValueDescriptorProto{Name: proto.String(v), Number: proto.Int32(int32(i))})
		}
		return e
	}
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("nsjail.proto"), Package: proto.String("nsjail"), Syntax: proto.String("proto2"),
		EnumType: []*descriptorpb.EnumDescriptorProto{enumOf("Mode", "LISTEN", "ONCE", "RERUN", "EXECVE"), enumOf("RLimit", "VALUE", "SOFT", "HARD", "INF")},
		MessageType: []*descriptorpb.DescriptorProto{
			message("MountPt",
				// Bytes where the original has strings that hold paths: the C++ reader does not
				// check UTF-8, Go's does.
				field{"src prefix_src_env src_content prefix_dst_env fstype options", bin, one, ""},
				field{"dst", bin, required, ""},
				field{"is_bind rw is_dir mandatory is_symlink nosuid nodev noexec", boolean, one, ""}),
			message("NsJailConfig",
				field{"name hostname bindhost log_file seccomp_policy_file", str, one, ""},
				field{"description", str, many, ""},
				field{"cwd", bin, one, ""},
				field{"envar", bin, many, ""},
				field{"mode", enum, one, "Mode"},
				field{"no_pivotroot daemon keep_env keep_caps silent skip_setsid stderr_to_null disable_no_new_privs forward_signals disable_tsc disable_rl " +
					"clone_newnet clone_newuser clone_newns clone_newpid clone_newipc clone_newuts clone_newcgroup clone_newtime mount_proc seccomp_log use_cgroupv2 detect_cgroupv2", boolean, one, ""},
				field{"port max_conns max_conns_per_ip time_limit max_cpus cgroup_cpu_ms_per_sec", u32, one, ""},
				field{"nice_level oom_score_adj", i32, one, ""},
				field{"rlimit_as rlimit_core rlimit_cpu rlimit_fsize rlimit_nofile rlimit_nproc rlimit_stack rlimit_memlock rlimit_rtprio rlimit_msgqueue " +
					"cgroup_mem_max cgroup_pids_max", u64, one, ""},
				field{"rlimit_as_type rlimit_core_type rlimit_cpu_type rlimit_fsize_type rlimit_nofile_type rlimit_nproc_type rlimit_stack_type rlimit_memlock_type " +
					"rlimit_rtprio_type rlimit_msgqueue_type", enum, one, "RLimit"},
				field{"mount", msg, many, "MountPt"}),
		},
	}
	fd, err := protodesc.NewFile(file, nil)
	if err != nil {
		panic(err)
	}
	return fd.Messages().ByName("NsJailConfig")
}
