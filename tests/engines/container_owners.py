"""Who made what there is at the Docker daemon, by the process of the harness."""

from harness.runtime import container_network


def owners_of(*processes: int) -> set[str]:
    """Return what harnesses call themselves on what they made: nothing, or one name for each."""
    numbers = {str(process) for process in processes}
    return {owner for owner in container_network.owners() if process_of(owner) in numbers}


def process_of(owner: str) -> str:
    return owner.split("/")[1]
