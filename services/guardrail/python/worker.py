"""Runs the actions of one configuration's actions.py, apart from the server.

Behind kit/subprocess' confine.py, which has close_network() and become_nobody().
Lines of JSON come in at descriptor 0 and go out at what was descriptor 1; what user code prints goes to standard error.
First line: {"files": [{"name", "text"}], "network", "seconds"}; its answer: {"actions", "filters", "parsers",
"network_is_off"} or {"error"}. Each further one: {"action", "parameters", "context", "config"} or {"filter" or "parser",
"arguments", "named"}; its answer: {"value", "context_updates", "events"} or {"error"}. Before that, any number of
{"llm": {…}}, each answered by {"text"} or {"error"}.
"""
import asyncio
import inspect
import json
import os
import resource
import sys
import traceback
import types


def take_descriptors():
    """Keeps the pipe for us: prints of user code must not end up in it."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    return os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n"), out


class ActionResult:
    def __init__(self, return_value=None, events=None, context_updates=None, **_):
        self.return_value = return_value
        self.events = events or []
        self.context_updates = context_updates or {}


def action(is_system_action=False, name=None, execute_async=False, output_mapping=None, **_):
    def mark(function):
        function.action_meta = {"name": name or function.__name__, "is_system_action": is_system_action}
        return function

    return mark


class Anything:
    """Stands for types of libraries that are only named in annotations."""

    def __init__(self, *_, **__):
        pass

    def __class_getitem__(cls, _):
        return cls


class StubFinder:
    """Modules that actions import for their types alone."""

    roots = ("nemoguardrails", "langchain", "langchain_core", "langchain_community")

    def find_spec(self, name, path=None, target=None):
        import importlib.machinery

        if name.split(".")[0] in self.roots:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        known = {"action": action, "ActionResult": ActionResult, "llm_call": llm_call,
                 "new_event_dict": lambda type, **members: {"type": type, **members},
                 "get_last_user_utterance": lambda events: last(events, "UserMessage", "text"),
                 "get_last_bot_utterance": lambda events: last(events, "StartUtteranceBotAction", "script")}
        module.__getattr__ = lambda name: known[name] if name in known else missing(spec.name, name)
        return module

    def exec_module(self, module):
        pass


def last(events, type, member):
    return next((each.get(member) for each in reversed(events) if each.get("type") == type), None)


def missing(module, name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name[0].isupper():
        return Anything
    raise AttributeError(f"{module}.{name} is not there: this server has @action, ActionResult, llm_call, "
                         "new_event_dict, get_last_user_utterance, get_last_bot_utterance")


class Pipe:
    def __init__(self):
        self.lines, self.out = take_descriptors()

    def read(self):
        line = self.lines.readline()
        if not line:
            sys.exit(0)
        return json.loads(line)

    def write(self, value):
        self.out.write(json.dumps(value, ensure_ascii=True, allow_nan=False, default=str) + "\n")
        self.out.flush()


pipe = None


class Model:
    """`llm`: asks the main model, through the server, which has the key."""

    def ask(self, prompt, stop=None, temperature=None, max_tokens=None, **_):
        if not isinstance(prompt, (str, list)):
            prompt = str(getattr(prompt, "text", prompt))
        pipe.write({"llm": {"prompt": prompt, "stop": stop, "temperature": temperature, "max_tokens": max_tokens}})
        answer = pipe.read()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["text"]

    __call__ = predict = invoke = ask

    async def apredict(self, prompt, **members):
        return self.ask(prompt, **members)

    ainvoke = agenerate_text = acall = apredict


async def llm_call(llm, prompt, stop=None, **members):
    return (llm or Model()).ask(prompt, stop=stop, **(members.get("llm_params") or {}))


class App:
    """What init(app) gets."""

    def __init__(self, loaded):
        self.actions, self.parameters = loaded.actions, loaded.parameters
        self.filters, self.parsers = loaded.filters, loaded.parsers
        self.config = types.SimpleNamespace()

    def register_action(self, function, name=None):
        self.actions[name or function.__name__] = function
        return self

    def register_action_param(self, name, value):
        self.parameters[name] = value
        return self

    def register_filter(self, filter_fn, name=None):
        self.filters[name or filter_fn.__name__] = filter_fn
        return self

    def register_output_parser(self, output_parser, name):
        self.parsers[name] = output_parser
        return self

    def _no_effect(self, *_, **__):
        """The configuration has a warning for each."""
        return self

    register_prompt_context = _no_effect
    register_embedding_search_provider = register_embedding_provider = _no_effect


class ConfigurationFinder:
    """The configuration's files as modules: actions.py and the package actions/ are `actions`, config.py is `config`."""

    def __init__(self, files):
        self.sources, self.packages = {}, set()
        for each in sorted(files, key=lambda each: (not each["name"].endswith("__init__.py"), each["name"])):
            path = each["name"].removesuffix(".py").split("/")
            if path[-1] == "__init__":
                path.pop()
                self.packages.add(".".join(path))
            self.sources.setdefault(".".join(path), []).append(each)
            for length in range(1, len(path)):
                self.packages.add(".".join(path[:length]))

    def names(self):
        return sorted(self.sources.keys() | self.packages)

    def find_spec(self, name, path=None, target=None):
        import importlib.machinery

        if name in self.sources or name in self.packages:
            return importlib.machinery.ModuleSpec(name, self, is_package=name in self.packages)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        for each in self.sources.get(module.__name__, []):
            exec(compile(each["text"], each["name"], "exec"), module.__dict__)


class Loaded:
    def __init__(self, wanted):
        import importlib

        self.actions, self.parameters, self.filters, self.parsers = {}, {}, {}, {}
        files = ConfigurationFinder(wanted["files"])
        sys.meta_path.insert(0, files)
        sys.meta_path.append(StubFinder())
        modules = {name: importlib.import_module(name) for name in files.names()}
        seen = set()
        for module in modules.values():
            for value in list(vars(module).values()):
                meta = getattr(value, "action_meta", None)
                if isinstance(meta, dict) and id(value) not in seen:
                    seen.add(id(value))
                    self.actions[meta["name"]] = value() if inspect.isclass(value) else value
        for name in ("config", "actions"):
            init = getattr(modules.get(name), "init", None)
            if callable(init):
                init(App(self))
                break

    def run(self, asked):
        """What was asked for: an action, a filter or a parser."""
        if "action" in asked:
            return self.run_action(asked)
        kind, known = ("filter", self.filters) if "filter" in asked else ("parser", self.parsers)
        function = known.get(asked[kind])
        if function is None:
            raise LookupError(f"there is no {kind} {asked[kind]!r}")
        value = function(*asked["arguments"], **asked["named"])
        return asyncio.run(wait_for(value)) if inspect.isawaitable(value) else value

    def run_action(self, asked):
        function = self.actions.get(asked["action"])
        if function is None:
            raise LookupError(f"there is no action {asked['action']!r}")
        target = function.run if hasattr(function, "run") and not inspect.isfunction(function) else function
        signature = inspect.signature(target).parameters
        given = {**self.parameters, "context": asked["context"], "config": Config(asked["config"] or {}), "llm": Model(),
                 "events": asked.get("events", []), "llm_task_manager": None, **asked["parameters"]}
        takes_all = any(each.kind == each.VAR_KEYWORD for each in signature.values())
        positional = [given[key] for key in sorted((k for k in asked["parameters"] if k.isdigit()), key=int)]
        named = {key: value for key, value in given.items()
                 if not key.isdigit() and (key in signature or (takes_all and key in asked["parameters"]))}
        value = target(*positional, **named)
        if inspect.isawaitable(value):
            value = asyncio.run(wait_for(value))
        return value


async def wait_for(value):
    return await value


class Config(dict):
    """The configuration's YAML: members by name, too."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.get(name)
        return Config(value) if isinstance(value, dict) else value


def place(error):
    """File and line of the configuration's code, or of what it calls."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith("<")]
    theirs = [each for each in frames if not os.path.isabs(each.filename)]
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 1
    here = (theirs or frames)[-1:]
    return (here[0].filename, here[0].lineno) if here else ("", 0)


def reason(error):
    """Type, words and line; no values of the request."""
    file, line = place(error)
    return f"{type(error).__name__} ({file}:{line})" if file else type(error).__name__


def main():
    global pipe
    server = os.getppid()
    pipe = Pipe()
    wanted = pipe.read()
    try:
        become_nobody()
    except PermissionError:
        return pipe.write({"error": "this process is root and may not become another user: run the server as one, or with the "
                                    "capabilities SETUID and SETGID"})
    end_with(server)  # behind the change of user, which takes it back
    off = False if wanted["network"] else close_network()
    if not off and not wanted["network"]:
        return pipe.write({"error": "the network cannot be closed on this kernel: allow it by --action-network"})
    try:
        loaded = Loaded(wanted)
    except BaseException as error:
        file, line = place(error)
        return pipe.write({"error": f"{reason(error)}: {error}", "file": file, "line": line})
    pipe.write({"actions": sorted(loaded.actions), "filters": sorted(loaded.filters), "parsers": sorted(loaded.parsers),
                "network_is_off": off})
    while True:
        asked = pipe.read()
        used = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (used + int(wanted["seconds"]) + 1, resource.RLIM_INFINITY))
        try:
            value = loaded.run(asked)
            if not isinstance(value, ActionResult):
                value = ActionResult(value)
            pipe.write({"value": value.return_value, "context_updates": value.context_updates, "events": value.events})
        except BaseException as error:
            pipe.write({"error": reason(error)})


main()
