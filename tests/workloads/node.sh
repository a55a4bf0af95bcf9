#!/bin/sh
# node: workers, file watching, HTTP, processes; npm: pack, install and test, offline.
set -eu
cat >all.js <<'END'
const assert = require('assert'), fs = require('fs'), http = require('http')
const { execFileSync, fork } = require('child_process')
const { Worker } = require('worker_threads')
const wait = (f) => new Promise(f)
async function main() {
  assert.equal(execFileSync('sh', ['-c', 'echo hi']).toString(), 'hi\n')
  assert.equal(await wait((r) => new Worker(
    'require("worker_threads").parentPort.postMessage(6 * 7)', { eval: true }).on('message', r)), 42)
  fs.writeFileSync('echo.js', 'process.on("message", (m) => process.send(m, () => process.exit()))')
  const child = fork('echo.js')
  child.send('ipc')
  assert.equal(await wait((r) => child.on('message', r)), 'ipc')
  fs.mkdirSync('watched')
  await wait((r) => {
    const w = fs.watch('watched', () => { w.close(); r() })
    fs.writeFileSync('watched/f', 'x')
  })
  const server = http.createServer((q, s) => s.end('pong'))
  await wait((r) => server.listen(0, '127.0.0.1', r))
  const text = await wait((r) => http.get({ port: server.address().port, host: '127.0.0.1' },
    (s) => s.on('data', (d) => r(d.toString()))))
  server.close()
  server.closeAllConnections?.()
  assert.equal(text, 'pong')
  const hash = require('crypto').pbkdf2Sync('a', 'b', 1000, 32, 'sha256')
  assert.equal(require('zlib').gunzipSync(require('zlib').gzipSync(hash)).length, 32)
  let n = 0
  for (let i = 0; i < 3e6; i++) n = (n + i * i) % 1000003 // long enough for the compiler
  console.log('node', process.version, n)
}
main().catch((e) => { console.error(e); process.exit(1) })
END
node all.js
mkdir lib app
cat >lib/package.json <<'END'
{ "name": "lib", "version": "1.0.0", "main": "i.js", "license": "MIT" }
END
echo 'module.exports = (a, b) => a + b' >lib/i.js
cat >app/package.json <<'END'
{ "name": "app", "version": "1.0.0", "license": "MIT", "private": true,
  "scripts": { "test": "node -e \"require('assert').equal(require('lib')(1, 2), 3)\"" } }
END
(cd lib && npm pack --silent --offline)
cd app && npm install --silent --offline --no-audit --no-fund ../lib/lib-1.0.0.tgz && npm test --silent
echo passed
