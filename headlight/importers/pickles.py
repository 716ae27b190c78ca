"""Read a pickle without running it.

A pickle is a program for a stack machine: most instructions push numbers and names, and some call the Python function
that they name. This machine replaces the few calls by which PyTorch builds a state dict with descriptions of their
results (`torch_calls`); it imports nothing, and calls nothing that the file names. It accepts what
`torch.load(weights_only=True)` accepts, except what allocates memory before its size is known.
"""

from __future__ import annotations

import io
import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headlight.importers.limits import MAX_PICKLE_DEPTH, MAX_PICKLE_INSTRUCTIONS
from headlight.importers.torch_calls import (
    CALLS,
    KNOWN_NAMES,
    REBUILD_FROM_TYPE,
    SETTINGS_NAMES,
    UNSUPPORTED_NAMES,
    Global,
    NamespaceOptions,
    Storage,
    TensorView,
    put,
    storage,
)
from transformer.checkpoint.weights import Refused, require_tensor_count

SAVE_AS_DENSE = "Save them as ordinary, dense tensors of real numbers."
GIVE_AS_VOCABULARY = "Import the weights, and give this file as their vocabulary."
# What a person may run, where the file is theirs.
SAVE_COMMAND = 'torch.save(model.state_dict(), "weights.pt")'
CONVERT_FAIRSEQ = (
    "Convert the model with the script for its family in transformers (convert_*_original_*checkpoint_to_pytorch.py), "
    "and import the folder that it writes."
)
VOCABULARY_COMMAND = 'json.dump(vocab.get_itos(), open("vocab.json", "w"))'


@dataclass
class DataObject:
    """The state that a pickle gives an object of a known data class; the object itself is never created."""

    name: str
    state: Any = None


class Machine:
    """Reads pickled values from `data`. An object of one of the `classes` becomes a DataObject with its state."""

    def __init__(self, data: io.BytesIO, classes: frozenset[str] = frozenset()):
        self.data, self.instructions, self.tensors, self.classes = data, 0, 0, classes
        self.storages: dict[str, Storage] = {}
        self.foreign: tuple[Global, int, str] | None = None  # the first foreign call, else the first name

    def read(self) -> Any:
        """Return the next value. Raises Refused where unpickling it would run foreign code, and where it is damaged.

        A foreign call returns None and reading goes on, so that the refusal can say whether there are weights too.
        """
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # the stacks under each mark
        self.memo: dict[int, Any] = {}
        at, name, damage = self.data.tell(), "", ""
        try:
            for opcode, argument, position in pickletools.genops(self.data):
                at, name = position or at, opcode.name
                self._step(name, argument, at)
            value = self.stack.pop()
        except Refused:
            raise
        except Exception as error:  # untrusted bytes may raise anything
            damage = name or type(error).__name__
        if self.foreign:
            raise refusal(*self.foreign, self.tensors)
        if damage:
            what = f"The file is damaged, or not a PyTorch file, at byte {at:,} ({damage})."
            raise Refused(what, (), "Choose one that torch.save wrote, or copy it again.")
        return value

    def _step(self, name: str, argument: Any, at: int) -> None:
        self.spend(1)
        if name in _STEPS:
            _STEPS[name](self, argument, at)
        elif name in _PUSHED:
            self.stack.append(_PUSHED[name]())
        elif argument is not None and name not in _UNKNOWN:
            self.stack.append(argument)  # a number, bytes or text, in one of their many forms
        elif name != "STOP":
            raise ValueError(name)

    def spend(self, instructions: int) -> None:
        self.instructions += instructions
        if self.instructions > MAX_PICKLE_INSTRUCTIONS:
            raise Refused(
                f"The file's list of tensors takes over {MAX_PICKLE_INSTRUCTIONS:,} instructions, more than any "
                "model's."
            )

    def pop_marked(self) -> list[Any]:
        """Return the values that were pushed since the last mark."""
        items, self.stack = self.stack, self.below.pop()
        return items

    def push_global(self, name: str, at: int) -> None:
        named = Global(name.replace("__builtin__.", "builtins."), at)
        if named.name not in KNOWN_NAMES and UNSUPPORTED_NAMES.fullmatch(named.name):
            raise Refused(f"The file has tensors of an unsupported kind ({named.name}).", (), SAVE_AS_DENSE)
        if self.is_foreign(named) and self.foreign is None:
            self.foreign = named, at, "GLOBAL"
        self.stack.append(named)

    def call(self, function: Any, arguments: Any, at: int, instruction: str) -> None:
        while function.name == REBUILD_FROM_TYPE:
            self.spend(1)
            function, _, arguments, _ = arguments
        self.note(function, at, instruction)
        if function.name in self.classes or SETTINGS_NAMES.fullmatch(function.name):
            self.stack.append(DataObject(function.name, arguments[0] if arguments else None))  # an enum's value
            return
        if function.name not in CALLS:
            self.stack.append(None)
            return
        self.spend(len(arguments) + (len(arguments[0]) if arguments and type(arguments[0]) in (list, tuple) else 0))
        result = CALLS[function.name](*arguments)
        if type(result) is TensorView and result is not arguments[0]:  # a parameter is the tensor that it is made of
            self.tensors += 1
            require_tensor_count(self.tensors)
        self.stack.append(result)

    def note(self, named: Global, at: int, instruction: str) -> None:
        """Note a call or an assignment; the first foreign one is what the file would have run."""
        if self.is_foreign(named) and (self.foreign is None or self.foreign[2] == "GLOBAL"):
            self.foreign = named, at, instruction

    def is_foreign(self, named: Global) -> bool:
        name = named.name
        return not (name in KNOWN_NAMES or name in self.classes or SETTINGS_NAMES.fullmatch(name))


def _call(machine: Machine, at: int, instruction: str) -> None:
    arguments = machine.stack.pop()
    machine.call(machine.stack.pop(), arguments, at, instruction)


def _call_with_names(machine: Machine, at: int) -> None:
    machine.stack.pop()
    _call(machine, at, "NEWOBJ_EX")


def _call_marked(machine: Machine, at: int) -> None:
    function, *arguments = machine.pop_marked()
    machine.call(function, arguments, at, "OBJ")


def _call_named(machine: Machine, argument: str, at: int) -> None:
    arguments = machine.pop_marked()
    machine.push_global(argument.replace(" ", "."), at)
    machine.call(machine.stack.pop(), arguments, at, "INST")


def _global(machine: Machine, at: int) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    machine.push_global(f"{module}.{name}" if type(module) is type(name) is str else "?", at)


def _build(machine: Machine, at: int) -> None:
    """Set the state of the object on top of the stack; of descriptions, only namespaces and data objects have one."""
    state = machine.stack.pop()
    if isinstance(machine.stack[-1], NamespaceOptions):
        machine.spend(len(state))  # each copy is paid for, since a file may set the same attributes many times
        machine.stack[-1].update(state)
    if isinstance(machine.stack[-1], DataObject):
        machine.stack[-1].state = state
    if isinstance(machine.stack[-1], Global):
        machine.note(machine.stack[-1], at, "BUILD")


def _storage(machine: Machine) -> None:
    id = machine.stack.pop()
    if id[0] == "module":  # the class of a whole model, with its source, in older files
        machine.stack.append(id[1])
        return
    stored = storage(id)
    machine.storages[stored.key] = stored
    machine.stack.append(stored)


def _mark(machine: Machine) -> None:
    if len(machine.below) > MAX_PICKLE_DEPTH:
        raise ValueError("too deep")
    machine.below.append(machine.stack)
    machine.stack = []


def _pop(machine: Machine) -> None:
    if machine.stack:
        machine.stack.pop()
    else:
        machine.pop_marked()


def _push_marked(machine: Machine, kind: Callable[[list[Any]], Any]) -> None:
    items = machine.pop_marked()
    machine.stack.append(kind(items))


def _tuple(machine: Machine, size: int) -> None:
    machine.stack[-size:] = [tuple(machine.stack[-size:])]


def _put(machine: Machine, items: list[Any]) -> None:
    if machine.stack[-1] is not None:  # a counter, or something foreign
        put(machine.stack[-1], items)


def _extend(machine: Machine, items: list[Any]) -> None:
    if machine.stack[-1] is not None:
        machine.stack[-1].extend(items)


def _memoize(machine: Machine, index: int | None) -> None:
    machine.memo[len(machine.memo) if index is None else index] = machine.stack[-1]


_PUSHED: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
    "EMPTY_SET": list,
}
_UNKNOWN = {"EXT1", "EXT2", "EXT4", "PERSID"}
_STEPS: dict[str, Callable[[Machine, Any, int], object]] = {
    "PROTO": lambda m, argument, at: None,
    "FRAME": lambda m, argument, at: None,
    "GLOBAL": lambda m, argument, at: m.push_global(argument.replace(" ", "."), at),
    "STACK_GLOBAL": lambda m, argument, at: _global(m, at),
    "REDUCE": lambda m, argument, at: _call(m, at, "REDUCE"),
    "NEWOBJ": lambda m, argument, at: _call(m, at, "NEWOBJ"),
    "NEWOBJ_EX": lambda m, argument, at: _call_with_names(m, at),
    "OBJ": lambda m, argument, at: _call_marked(m, at),
    "INST": _call_named,
    "BUILD": lambda m, argument, at: _build(m, at),
    "BINPERSID": lambda m, argument, at: _storage(m),
    "MARK": lambda m, argument, at: _mark(m),
    "POP": lambda m, argument, at: _pop(m),
    "POP_MARK": lambda m, argument, at: m.pop_marked(),
    "DUP": lambda m, argument, at: m.stack.append(m.stack[-1]),
    "TUPLE": lambda m, argument, at: _push_marked(m, tuple),
    "LIST": lambda m, argument, at: _push_marked(m, list),
    "FROZENSET": lambda m, argument, at: _push_marked(m, list),
    "DICT": lambda m, argument, at: _push_marked(m, lambda items: put({}, items)),
    "TUPLE1": lambda m, argument, at: _tuple(m, 1),
    "TUPLE2": lambda m, argument, at: _tuple(m, 2),
    "TUPLE3": lambda m, argument, at: _tuple(m, 3),
    "APPEND": lambda m, argument, at: _extend(m, [m.stack.pop()]),
    "APPENDS": lambda m, argument, at: _extend(m, m.pop_marked()),
    "ADDITEMS": lambda m, argument, at: _extend(m, m.pop_marked()),
    "SETITEM": lambda m, argument, at: _put(m, [m.stack.pop(-2), m.stack.pop()]),
    "SETITEMS": lambda m, argument, at: _put(m, m.pop_marked()),
    **{name: lambda m, index, at: _memoize(m, index) for name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE")},
    **{name: lambda m, index, at: m.stack.append(m.memo[index]) for name in ("GET", "BINGET", "LONG_BINGET")},
}


def refusal(named: Global, at: int, instruction: str, tensors: int) -> Refused:
    """Return the refusal of a pickle that names `named`."""
    facts = (
        ("Found at", f"byte {at:,}, instruction {instruction}"),
        ("Weights inside", f"{tensors:,} tensors" if tensors else "none"),
    )
    name = named.name if named.name.isprintable() else ascii(named.name)
    name = name if len(name) <= 80 else f"{name[:80]}…"
    if name.startswith("torchtext."):
        what = f"This file is a vocabulary ({name}), not a model."
        return Refused(what, facts, GIVE_AS_VOCABULARY)
    if "vocab" in name.lower():
        what = f"This vocabulary is a pickled object of {name}: to open it would run code."
        return Refused(what, facts, "Write its words as JSON, in the order of their ids.", VOCABULARY_COMMAND)
    if instruction in ("NEWOBJ", "NEWOBJ_EX", "OBJ"):
        what = f"This file holds a whole object of the class {name}, not its weights alone: to open it would run code."
    else:
        what = f"This file would run a program: opening it the usual way would call {name}."
    if name.startswith("onmt."):
        remedy = "Convert it with OpenNMT-py's tools/convertv2_v3.py, and import the file that it writes."
        return Refused(f"{what} OpenNMT-py saved its vocabularies so before version 3.", facts, remedy)
    return Refused(what, facts, "If it is yours, save the weights alone, then import that file.", SAVE_COMMAND)


def pickled_vocabulary(path_name: str) -> Refused:
    """Return the refusal of a pickled dictionary of words as a model."""
    return Refused(f"{path_name} is a vocabulary, not a model.", (), GIVE_AS_VOCABULARY)
