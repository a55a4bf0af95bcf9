#!/bin/sh
# Python: pytest with numpy, processes by all three ways, threads, asyncio, sockets, sqlite, ctypes.
set -eu
cat >test_all.py <<'END'
import asyncio, ctypes, mmap, multiprocessing as mp, os, signal, socket, sqlite3, subprocess
import sys, tempfile, threading, time
import numpy as np
import pytest

def square(x):
    return x * x

def test_numpy():
    a = np.random.default_rng(1).random((200, 200))
    assert np.allclose(np.linalg.inv(a) @ a, np.eye(200), atol=1e-6)

@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_pool(way):
    with mp.get_context(way).Pool(2) as pool:
        assert pool.map(square, range(10)) == [x * x for x in range(10)]

def test_queue_and_shared_memory():
    from multiprocessing import shared_memory
    q = mp.Queue()
    p = mp.Process(target=q.put, args=(7,))
    p.start()
    assert q.get(timeout=20) == 7
    p.join()
    m = shared_memory.SharedMemory(create=True, size=100)
    m.buf[0] = 1
    m.close()
    m.unlink()

def test_threads():
    out = []
    ts = [threading.Thread(target=out.append, args=(i,)) for i in range(20)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    assert sorted(out) == list(range(20))

def test_asyncio():
    async def go():
        p = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
        out, _ = await p.communicate(b"hello")
        async def serve(r, w):
            w.write(await r.readline())
            w.close()
        s = await asyncio.start_server(serve, "127.0.0.1", 0)
        r, w = await asyncio.open_connection(*s.sockets[0].getsockname())
        w.write(b"echo\n")
        line = await r.read()
        s.close()
        return out, line
    assert asyncio.run(go()) == (b"hello", b"echo\n")

def test_subprocess():
    assert subprocess.run(["sh", "-c", "exit 3"], start_new_session=True).returncode == 3
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(["sleep", "60"], timeout=0.1)

def test_sockets():
    a, b = socket.socketpair()
    a.send(b"x")
    assert b.recv(1) == b"x"
    s = socket.socket(socket.AF_INET6)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("::1", 0))
    s.listen()
    c = socket.create_connection(s.getsockname()[:2])
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    c.close()
    with pytest.raises(OSError):
        socket.socket(38, socket.SOCK_SEQPACKET)

def test_files(tmp_path):
    db = sqlite3.connect(tmp_path / "db")
    db.execute("create table t (x)")
    db.executemany("insert into t values (?)", [(i,) for i in range(100)])
    db.commit()
    assert db.execute("select sum (x) from t").fetchone() == (4950,)
    fd = os.memfd_create("m")
    os.write(fd, b"data")
    assert mmap.mmap(fd, 4)[:] == b"data"
    with tempfile.TemporaryFile() as f:
        f.write(b"1")

def test_ctypes_and_signals():
    assert ctypes.CDLL(None).abs(-3) == 3
    got = []
    signal.signal(signal.SIGALRM, lambda *a: got.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    deadline = time.monotonic() + 20
    while not got and time.monotonic() < deadline:
        time.sleep(0.01)
    assert got
END
/usr/bin/python3 -m pytest -q -p no:cacheprovider test_all.py
