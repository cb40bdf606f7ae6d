"""Parts played on a Dask cluster, on this machine or many; the results are the same to the bit."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import TracebackType
from typing import Any

from kozel_sim.checks import Engine
from kozel_sim.parts import Part, PartPlayer, Progress, Result
from kozel_sim.printing import status
from kozel_sim.store import differences
from kozel_sim.tournaments import Deliver, Tournament

LOCAL = "local"
PATIENCE = 3.0
"""Seconds without a worker after which it is said that one is waited for."""
LOOK = 0.25
"""Seconds between two looks at the workers."""


class Cluster:
    """A Dask cluster that plays parts; a mapper for ``Tournament.play``, and a context.

    Parameters
    ----------
    address : str
        A scheduler's, like ``tcp://127.0.0.1:8786``; or "local": processes of this machine, one
        for each core, which end with the context.

    Raises
    ------
    ValueError
        If the extra ``dask`` is not installed.
    OSError
        If there is no scheduler at the address.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise ValueError("--dask needs the extra dask: pip install 'kozel_sim[dask]'") from None
        self._local: Any = None
        self._address = address
        if address == LOCAL:
            self._local = distributed.LocalCluster(
                n_workers=os.cpu_count(),
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        try:
            self._client = distributed.Client(self._local or address, timeout=10)
        except (OSError, ValueError, ImportError, TypeError):
            raise OSError(f"no Dask scheduler answers at {address!r}") from None

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()
        if self._local is not None:
            self._local.close()

    def __call__(
        self,
        planned: Tournament,
        engine: Engine,
        parts: Iterable[Part],
        deliver: Deliver,
        progress: Progress | None,
    ) -> None:
        """Play parts; those of a worker that is lost are played by another.

        After an error or an interrupt the parts that have not begun are dropped.
        """
        from distributed import KilledWorker, as_completed

        recipe = json.dumps(planned.manifest(engine))
        futures = {self._client.submit(play_part, recipe, part, pure=False): part for part in parts}
        try:
            with self._watching_workers():
                for future in as_completed(futures):
                    part = futures.pop(future)
                    if future.status not in ("finished", "error"):
                        raise OSError("the Dask cluster is lost: its scheduler does not answer")
                    deliver(part, future.result())
                    if progress:
                        progress(planned.matches_of(part))
        except KilledWorker as error:
            raise OSError(f"workers of the Dask cluster die of a part: {error}") from None
        finally:
            self._client.cancel(list(futures))

    @contextmanager
    def _watching_workers(self) -> Iterator[None]:
        """Say on stderr when nothing is played since there are no workers, and when there are."""
        over = threading.Event()
        watcher = threading.Thread(target=self._watch_workers, args=(over,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join(PATIENCE)

    def _watch_workers(self, over: threading.Event) -> None:
        idle_since: float | None = time.monotonic()
        told = False
        while not over.wait(LOOK):
            try:
                workers = self._client.scheduler_info()["workers"]
            except OSError:
                # It is lost, which the other thread says.
                continue
            if workers:
                if told:
                    status("workers have come to the Dask scheduler: it is played")
                idle_since, told = None, False
            elif idle_since is None:
                idle_since = time.monotonic()
            elif not told and time.monotonic() - idle_since >= PATIENCE:
                at = self._address
                status(f"no workers at the Dask scheduler {at}; waiting for one (dask worker {at})")
                told = True


def play_part(recipe: str, part: Part) -> Result:
    """Play a part on a worker, from the run's manifest alone."""
    return _player(recipe).play(part)


@lru_cache(maxsize=4)
def _player(recipe: str) -> PartPlayer:
    manifest = json.loads(recipe)
    planned = Tournament.of_manifest(manifest, trusted=True)
    mine = json.loads(json.dumps(planned.manifest()))
    if differing := differences(manifest, mine):
        raise ValueError(f"a worker has another kozel_sim ({'; '.join(differing)})")
    return planned.player(manifest["engine"])
