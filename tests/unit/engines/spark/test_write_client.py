"""Arguments of Hudi's write client become what the parameters of its methods are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engines.spark import write_client
from harness.engines.spark.write_client import NoSuchMethodError

STRING, STRINGS, PLACE = "String", "String[]", "ColumnPositionType"


def kind(name: str) -> SimpleNamespace:
    """Return a class of Java."""
    constants = [SimpleNamespace(name=lambda each=each: each) for each in ("FIRST", "AFTER")]
    return SimpleNamespace(
        getSimpleName=lambda: name,
        isEnum=lambda: name == PLACE,
        getEnumConstants=lambda: constants,
        getComponentType=lambda: name.removesuffix("[]"),
    )


@dataclass
class Library:
    """A version of Hudi with its classes of schemas, in a JVM."""

    schema: str
    fails: bool = False
    told: dict[str, str] = field(default_factory=dict)
    called: list[tuple[Any, ...]] = field(default_factory=list)
    closed: int = 0

    @property
    def methods(self) -> Mapping[str, Sequence[Sequence[str]]]:
        longer = [STRING, self.schema, STRING, STRING, PLACE]
        return {
            "addColumn": [longer, [STRING, self.schema]],
            "deleteColumns": [[STRINGS]],
            "updateColumnType": [[STRING, "Type"]],
        }

    def jvm(self) -> SimpleNamespace:
        parsed = SimpleNamespace(parse=lambda text: (self.schema, text))
        converter = SimpleNamespace(convertToField=lambda schema: ("Type", schema))
        own = self.schema == write_client.SCHEMA_CLASS
        names = {f"{'' if own else 'Avro'}InternalSchemaConverter": converter}
        config = SimpleNamespace(build=dict)
        config.withProps = config.withPath = lambda _: config
        hudi = SimpleNamespace(
            common=SimpleNamespace(
                schema=SimpleNamespace(**({"HoodieSchema": parsed} if own else {}))
            ),
            internal=SimpleNamespace(schema=SimpleNamespace(convert=SimpleNamespace(**names))),
            client=SimpleNamespace(
                common=SimpleNamespace(HoodieSparkEngineContext=lambda _: None),
                SparkRDDWriteClient=lambda *_: self.client(),
            ),
            config=SimpleNamespace(
                HoodieWriteConfig=SimpleNamespace(
                    newBuilder=lambda: SimpleNamespace(forTable=lambda _: config)
                )
            ),
        )
        avro = SimpleNamespace(Schema=SimpleNamespace(Parser=lambda: parsed))
        array = SimpleNamespace(newInstance=lambda of, size: [of] * size)
        java = SimpleNamespace(
            util=SimpleNamespace(
                Properties=lambda: SimpleNamespace(setProperty=self.told.__setitem__)
            ),
            lang=SimpleNamespace(reflect=SimpleNamespace(Array=array)),
        )
        apache = SimpleNamespace(hudi=hudi, avro=avro)
        return SimpleNamespace(org=SimpleNamespace(apache=apache), java=java)

    def client(self) -> SimpleNamespace:
        methods = [
            SimpleNamespace(
                getName=lambda name=name: name,
                getParameterTypes=lambda kinds=kinds: [kind(each) for each in kinds],
            )
            for name, every in self.methods.items()
            for kinds in every
        ]
        calls = dict.fromkeys(self.methods, self._called)
        class_ = SimpleNamespace(getMethods=lambda: methods, getName=lambda: "a.Client")
        return SimpleNamespace(getClass=lambda: class_, close=self._close, **calls)

    def _called(self, *arguments: object) -> None:
        if self.fails:
            raise RuntimeError("refused")
        self.called.append(arguments)

    def _close(self) -> None:
        self.closed += 1


def call(library: Library, method: str, *arguments: str) -> None:
    spark: Any = SimpleNamespace(_jvm=library.jvm(), _jsc=None)
    what = {"method": method, "arguments": arguments, "options": {"b": "2"}}
    write_client.call(spark, {"a": "1", "b": "1"}, {**what, "table": "t", "path": "/t"})


@pytest.mark.parametrize("schema", ["Schema", "HoodieSchema"])
def test_a_schema_is_of_the_class_that_the_version_takes(schema: str) -> None:
    library = Library(schema)
    call(library, "addColumn", "n", '"int"')
    call(library, "updateColumnType", "n", '"long"')
    type_ = ("Type", (schema, '"long"'))
    assert library.called == [("n", (schema, '"int"')), ("n", type_)]
    assert library.closed == 2


def test_a_place_is_a_constant_and_several_names_are_an_array() -> None:
    library = Library("Schema")
    call(library, "addColumn", "n", '"int"', "", "a", "AFTER")
    call(library, "deleteColumns", "a")
    added, dropped = library.called
    assert added[-1].name() == "AFTER"
    assert dropped == (["a"],)


def test_a_client_knows_the_settings_of_the_session_and_the_properties_of_the_table() -> None:
    library = Library("Schema")
    call(library, "deleteColumns", "a")
    assert library.told == {"a": "1", "b": "2"}


def test_a_client_is_closed_after_an_error() -> None:
    library = Library("Schema", fails=True)
    with pytest.raises(RuntimeError, match="refused"):
        call(library, "deleteColumns", "a")
    assert library.closed == 1


def test_a_version_without_the_method_refuses() -> None:
    with pytest.raises(NoSuchMethodError, match="has no method addColumn of 3 parameters"):
        call(Library("Schema"), "addColumn", "n", "a", "b")
    with pytest.raises(NoSuchMethodError, match="no method renameColumn of 2 parameters"):
        call(Library("Schema"), "renameColumn", "n", "m")
