"""Calls of Hudi's write client from the worker (`worker.py`), which this file is copied beside.

Parameters differ by Hudi's version: `addColumn` takes a schema of Avro in 0.15.0 and 1.0.2, and a
`HoodieSchema` in 1.2.0. Arguments are text, and become what the parameters are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

SCHEMA_CLASS: Final = "HoodieSchema"


class NoSuchMethodError(Exception):
    """The client of this version cannot be asked so: a refusal."""


def call(spark: SparkSession, settings: Mapping[str, str], request: Mapping[str, Any]) -> None:
    """Call a method of a new client of the table at a path, with `settings` of the session."""
    jvm: Any = spark._jvm  # noqa: SLF001 - the only way to Hudi's Java
    hudi, properties = jvm.org.apache.hudi, jvm.java.util.Properties()
    for name, value in {**settings, **request["options"]}.items():
        properties.setProperty(name, value)
    config = hudi.config.HoodieWriteConfig.newBuilder().forTable(request["table"])
    config = config.withPath(request["path"]).withProps(properties).build()
    context = hudi.client.common.HoodieSparkEngineContext(spark._jsc)  # noqa: SLF001 - as above
    client = hudi.client.SparkRDDWriteClient(context, config)
    try:
        method, arguments = request["method"], request["arguments"]
        if method == "index":
            return _index(jvm, client, *arguments)
        kinds = _parameters(client, method, len(arguments))
        made = [_argument(jvm, client, kind, text) for kind, text in zip(kinds, arguments)]
        getattr(client, method)(*made)
    finally:
        client.close()


def _index(jvm: Any, client: Any, name: str) -> None:  # noqa: ANN401 - Py4J's objects
    _parameters(client, "scheduleIndexing", 2)
    kinds = jvm.java.util.ArrayList()
    kinds.add(getattr(jvm.org.apache.hudi.metadata.MetadataPartitionType, name))
    client.index(client.scheduleIndexing(kinds, jvm.java.util.ArrayList()).get())


def _parameters(client: Any, name: str, count: int) -> list[Any]:  # noqa: ANN401 - Py4J's objects
    """Return the classes of the parameters of the method that takes so many."""
    methods = [method for method in client.getClass().getMethods() if method.getName() == name]
    signatures = (list(method.getParameterTypes()) for method in methods)
    fits = next((kinds for kinds in signatures if len(kinds) == count), None)
    if fits is None:
        problem = f"{client.getClass().getName()} has no method {name} of {count} parameters"
        raise NoSuchMethodError(problem)
    return fits


def _argument(jvm: Any, client: Any, kind: Any, text: str) -> Any:  # noqa: ANN401 - as above
    name = kind.getSimpleName()
    if name == "String":
        return text
    if name == "boolean":
        return text == "true"
    if name == "String[]":
        made = jvm.java.lang.reflect.Array.newInstance(kind.getComponentType(), 1)
        made[0] = text
        return made
    if kind.isEnum():
        return next(constant for constant in kind.getEnumConstants() if constant.name() == text)
    taken = _parameters(client, "addColumn", 2)
    newer = any(parameter.getSimpleName() == SCHEMA_CLASS for parameter in taken)
    avro, common = jvm.org.apache.avro.Schema, jvm.org.apache.hudi.common.schema
    schema = common.HoodieSchema.parse(text) if newer else avro.Parser().parse(text)
    if name != "Type":
        return schema
    convert = jvm.org.apache.hudi.internal.schema.convert
    converter = convert.InternalSchemaConverter if newer else convert.AvroInternalSchemaConverter
    return converter.convertToField(schema)
