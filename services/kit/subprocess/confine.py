"""What a Python process gives up before it runs code of others; in front of each script that runs some.

Everything here is for the process itself and what it starts; nothing can be taken back afterwards.
"""
import ctypes
import os
import platform
import struct

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
_nobody = 65534
# By name: the number on x86-64 and on arm64; None where there is no such call.
_calls = {
    "socket": (41, 198), "io_uring_setup": (425, 425),
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "setsid": (112, 157), "setpgid": (109, 154),
    "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219),
}
network_calls = ("socket", "io_uring_setup")


def _machine():
    """AUDIT_ARCH and the place of its numbers; nothing on other machines."""
    return {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}.get(platform.machine())


def keep_privileges_away():
    """PR_SET_NO_NEW_PRIVS: no program that is started gets more rights than this one."""
    return _libc.prctl(38, 1, None, 0, 0) == 0


def refuse_calls(names, only_threads=False):
    """seccomp(2): these calls fail with EPERM. With only_threads no process is made, and signals go to this one only.

    False: this kernel or machine cannot do it.
    """
    machine = _machine()
    if machine is None or not keep_privileges_away():
        return False
    arch, column = machine
    load, equal, greater, has_bits, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, unknown, kill = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38, 0x80000000  # EPERM, ENOSYS
    code = [(load, 0, 0, 4), (equal, 1, 0, arch), (give, 0, 0, kill), (load, 0, 0, 0)]
    if column == 0:  # x32's numbers of the same calls
        code += [(greater, 0, 1, 0x40000000), (give, 0, 0, refuse)]
    for name in names:
        number = _calls[name][column]
        if number is not None:
            code += [(equal, 0, 1, number), (give, 0, 0, refuse)]
    if only_threads:
        clone, clone3, tgkill = ((56, 435, 234), (220, 435, 131))[column]
        # clone3's flags are behind a pointer; without it libraries take clone, whose flags are in a register.
        code += [(equal, 0, 1, clone3), (give, 0, 0, unknown)]
        code += [(equal, 0, 3, clone), (load, 0, 0, 16), (has_bits, 1, 0, 0x10000), (give, 0, 0, refuse),
                 (load, 0, 0, 0)]
        code += [(equal, 0, 3, tgkill), (load, 0, 0, 16), (equal, 1, 0, os.getpid()), (give, 0, 0, refuse),
                 (load, 0, 0, 0)]
    code.append((give, 0, 0, allow))
    held = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))

    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    wanted = Filter(len(code), ctypes.cast(held, ctypes.c_void_p))
    # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
    return _libc.prctl(22, 2, ctypes.addressof(wanted), 0, 0) == 0


def close_network():
    """No sockets in this process and its children."""
    return refuse_calls(network_calls)


def end_with(parent):
    """This process is killed when the thread that started it ends, also when its whole process is killed.

    Call it behind become_nobody(), which takes it back. `parent`: os.getppid() of before, as it may have ended meanwhile.
    """
    _libc.prctl(1, 9, None, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL
    if os.getppid() != parent:
        os._exit(0)


def become_nobody():
    """Where this process is root; PermissionError where it may not."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(_nobody)
        os.setuid(_nobody)


