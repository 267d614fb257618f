// Tests the terminal login with independent cryptography: PyNaCl from Debian creates the key and opens the token.
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensurePythonNacl } from '@manager/harness/engines/install.ts'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from './kit/app.ts'
import { decide, openTerminal } from '@manager/harness/cli-login.ts'

const anna: Person = { id: '0199a000-0000-7000-8000-00000000e001', email: 'anna@example.com', name: 'Anna' }
// The script reads one line: `new`, or the private key and the sealed box, both in base64.
const script = `
import base64, sys
from nacl.public import PrivateKey, SealedBox
words = sys.stdin.readline().split()
if words == ['new']:
    key = PrivateKey.generate()
    for part in (bytes(key), bytes(key.public_key)):
        print(base64.b64encode(part).decode())
else:
    secret, box = (base64.b64decode(word, validate=True) for word in words)
    print(SealedBox(PrivateKey(secret)).decrypt(box).decode())
`

let service: TestApp
let python: string
beforeAll(async () => {
  python = ensurePythonNacl()
  service = await startTestApp()
})
afterAll(() => service?.close())

const runPython = (line: string): string[] =>
  execFileSync(python, ['-c', script], { input: `${line}\n`, encoding: 'utf8', stdio: 'pipe' })
    .trim()
    .split('\n')

test('[cli-login.sealed-token] PyNaCl makes a key that is taken, and opens the token, which works', async () => {
  const [secret = '', publicKey = ''] = runPython('new')
  const terminal = await openTerminal(service)
  const { session_id, user_code } = await terminal.login({ public_key: publicKey })
  expect((await decide(service, anna, user_code, 'approve')).status).toBe(200)
  const { body } = await terminal.poll(session_id)
  const [token = ''] = runPython(`${secret} ${String(body['sealed_token'])}`)
  const response = await fetch(`${service.url}/query`, {
    method: 'POST',
    headers: {
      'x-proxy-auth': proxySecret,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ query: '{ me { id } }' }),
  })
  expect(await response.json()).toEqual({ data: { me: { id: anna.id } } })
})

test('PyNaCl with another key does not open it', async () => {
  const [[, publicKey = ''], [otherSecret = '']] = [runPython('new'), runPython('new')]
  const terminal = await openTerminal(service)
  const { session_id, user_code } = await terminal.login({ public_key: publicKey })
  await decide(service, anna, user_code, 'approve')
  const { body } = await terminal.poll(session_id)
  expect(() => runPython(`${otherSecret} ${String(body['sealed_token'])}`)).toThrow('CryptoError')
})
