"""Runs one Python program of a model, shut in; behind kit/subprocess' confine.py.

One line of JSON comes in: {"program", "word", "layers", "seconds", "scratch"}; one goes out: {"passed", "reason", "word"},
or {"refused": why it was not run}. The word distinguishes our line from one that the program wrote: it is there only when the
program came to its end.
"""
import json
import resource
import signal
import sys
import traceback
import types

NEW_NAMESPACES = 0x00020000 | 0x08000000 | 0x04000000 | 0x20000000 | 0x40000000  # mount, IPC, UTS, PID, network
NEW_USER = 0x10000000
BIND, RECURSIVE, PRIVATE, NOSUID, NODEV, NOEXEC = 0x1000, 0x4000, 0x40000, 2, 4, 8
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")


def call(name, *arguments):
    """A function of libc that answers 0, or the reason as OSError."""
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def system(number, *arguments):
    _libc.syscall.restype = ctypes.c_long
    out = _libc.syscall(ctypes.c_long(number), *arguments)
    if out < 0:
        failed = ctypes.get_errno()
        raise OSError(failed, f"call {number}: {os.strerror(failed)}")
    return out


def mount(source, target, kind=None, flags=0, options=None):
    texts = [None if each is None else each.encode() for each in (source, target, kind, options)]
    call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


def make_read_only(path):
    """With all that is mounted below: mount_setattr(2)."""
    attributes = struct.pack("QQQQ", 1 | 2 | 4, 0, 0, 0)  # RDONLY, NOSUID, NODEV
    system(442, ctypes.c_int(-100), path.encode(), ctypes.c_uint(0x8000), attributes, ctypes.c_size_t(len(attributes)))


def read_paths():
    """What Python itself needs to read: its own files and libraries, and no folder with anybody's data."""
    wanted = ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime",
              sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.path.realpath(sys.executable))]
    out = []
    for path in wanted:
        inside = any(path == each or path.startswith(each + "/") for each in out if not os.path.islink(each))
        if os.path.exists(path) and path != "/" and not inside:
            out.append(path)
    return out


def build_root(scratch):
    """A root of its own in memory: what Python reads, read-only, and /tmp, the only place to write."""
    mount(None, "/", None, RECURSIVE | PRIVATE)
    os.umask(0o022)
    root = "/tmp"  # any folder: it is covered, for this process
    mount("root", root, "tmpfs", NOSUID | NODEV, "size=1m,mode=755")
    for path in read_paths():
        target = root + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.islink(path):
            os.symlink(os.readlink(path), target)
            continue
        if os.path.isdir(path):
            os.makedirs(target, exist_ok=True)
        else:
            open(target, "w").close()
        mount(path, target, None, BIND | RECURSIVE)
        make_read_only(target)
    os.makedirs(root + "/dev")
    for path in DEVICES:
        open(root + path, "w").close()
        mount(path, root + path, None, BIND)
    os.makedirs(root + "/tmp")
    os.chdir(root)
    system(155 if _machine()[1] == 0 else 41, b".", b".")  # pivot_root: the old one lies upon the new one
    call("umount2", b".", ctypes.c_int(2))
    os.chdir("/")
    mount("scratch", "/tmp", "tmpfs", NOSUID | NODEV | NOEXEC, f"size={scratch},nr_inodes=1024,mode=1777")
    mount(None, "/", None, 32 | BIND | NOSUID | NODEV | 1)  # MS_REMOUNT, MS_RDONLY
    os.chdir("/tmp")


def write_file(path, text):
    with open(path, "w") as file:
        file.write(text)


def enter_namespaces():
    """As root with its right to do so, else with a user namespace of our own, in which we are nobody."""
    if os.geteuid() == 0:
        try:
            return call("unshare", ctypes.c_int(NEW_NAMESPACES))
        except OSError:
            become_nobody()
            call("prctl", 4, 1, None, 0, 0)  # PR_SET_DUMPABLE: or /proc/self stays root's
    user, group = os.geteuid(), os.getegid()
    call("unshare", ctypes.c_int(NEW_NAMESPACES | NEW_USER))
    write_file("/proc/self/setgroups", "deny")
    write_file("/proc/self/uid_map", f"{_nobody} {user} 1")
    write_file("/proc/self/gid_map", f"{_nobody} {group} 1")


def continue_as_child():
    """The first process of the new namespace: with it everything in it ends. We wait, and end as it did."""
    child = os.fork()
    if child == 0:
        return
    _, status = os.waitpid(child, 0)
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


def drop_capabilities():
    class Header(ctypes.Structure):
        _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]

    header, data = Header(0x20080522, 0), (ctypes.c_uint32 * 6)()
    call("capset", ctypes.byref(header), ctypes.byref(data))


def shut_in_by_namespaces(wanted):
    enter_namespaces()
    continue_as_child()
    build_root(wanted["scratch"])
    become_nobody()
    drop_capabilities()


def shut_in_by_landlock(wanted):
    """No namespaces: reads what Python needs, writes nowhere."""
    version = system(444, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    rights = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    handled = struct.pack("Q", (1 << rights) - 1)
    rules = system(444, handled, ctypes.c_size_t(len(handled)), ctypes.c_uint(0))
    read_file, read_folder = 4, 8
    for path in [os.path.realpath(each) for each in read_paths()] + list(DEVICES):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", read_file | (read_folder if os.path.isdir(path) else 0), place)
        system(445, ctypes.c_int(rules), ctypes.c_int(1), rule, ctypes.c_uint(0))
        os.close(place)
    become_nobody()
    if not keep_privileges_away():
        raise OSError("no_new_privs is not there")
    system(446, ctypes.c_int(rules), ctypes.c_uint(0))
    os.close(rules)
    os.chdir("/")


def shut_in(wanted):
    """The first layer that this kernel allows; then no network, no processes, no signals to others. Why it cannot be."""
    layers = {"namespaces": shut_in_by_namespaces, "landlock": shut_in_by_landlock}
    tried = []
    for name in wanted["layers"]:
        try:
            layers[name](wanted)
            break
        except OSError as error:
            # Half-way in, the other layer would begin in a place that nobody knows.
            tried.append(f"{name} ({error.strerror or error})")
            if name == "namespaces" and not can_see_root():
                return "the sandbox could not be finished: " + ", ".join(tried)
    else:
        return "neither namespaces nor Landlock can be used here" + (": " + ", ".join(tried) if tried else "")
    if not refuse_calls(_calls, only_threads=True):
        return "seccomp cannot be used here"
    return None


def can_see_root():
    return os.path.exists(os.path.realpath(sys.executable)) and os.getpid() != 1


def limit(wanted):
    for number, value in wanted.items():
        most = resource.getrlimit(number)[1]
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(number, (value, value))


def reason_of(error):
    """Its type, its words, and the program's line where there is one."""
    frames = traceback.extract_tb(error.__traceback__, limit=-20)
    lines = [each.lineno for each in frames if each.filename == "program.py"]
    words = str(error).split("\n")[0][:200].encode("utf-8", "replace").decode()  # half a pair is no JSON
    where = f" at line {lines[-1]}" if lines else ""
    return f"{type(error).__name__}{': ' + words if words else ''}{where}"


def run(program):
    """None when it came to its end."""
    module = types.ModuleType("program")
    sys.modules["program"] = module
    try:
        exec(compile(program, "program.py", "exec"), module.__dict__)
    except BaseException as error:
        try:
            return reason_of(error)
        except BaseException:
            return type(error).__name__
    return None


def main():
    wanted = json.loads(sys.stdin.readline())
    out = os.dup(1)
    nothing = os.open("/dev/null", os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)

    def answer(value):
        os.write(out, (json.dumps(value) + "\n").encode())

    try:
        limit({resource.RLIMIT_CPU: wanted["seconds"], resource.RLIMIT_CORE: 0})
        refused = shut_in(wanted)
        limit({resource.RLIMIT_NPROC: 256})  # threads; before, it would count those of our own user
    except Exception as error:
        refused = f"the sandbox could not be finished: {error}"
    if refused:
        answer({"refused": refused})
        os._exit(0)
    call("prctl", 1, signal.SIGKILL, None, 0, 0)  # PR_SET_PDEATHSIG
    reason = run(wanted.pop("program"))
    answer({"passed": reason is None, "reason": reason or "", "word": wanted["word"]})
    os._exit(0)


main()
