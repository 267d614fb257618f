// examples/backend.ts, which has the client do most of it, with a service that runs as a process: called back, and still
// called back after everything that happens to the two of them.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testExampleBackend } from './kit/example-backend-tests.ts'
import { startUpstream } from './kit/upstream.ts'

const program = new URL('../../../examples/backend.ts', import.meta.url).pathname
testExampleBackend('backend.ts', ({ scene, registrations, fireAndServe }) => {
  test('[backends.durable] it is called after a restart of the Manager', async () => {
    const ids = async () => (await registrations()).map(({ id }) => id)
    const before = await ids()
    await scene().restart(() => Promise.resolve())
    await fireAndServe()
    expect(await ids()).toEqual(before)
  })
})

test.each(['', '0', '-1', 'soon'])(
  'it takes the default interval when HEARTBEAT_SECONDS is "%s"',
  async (seconds) => {
    const upstream = await startUpstream()
    upstream.answer((_request, response) => response.end('{"registered_id":"r","token":"t"}'))
    const folder = mkdtempSync(join(tmpdir(), 'example-backend-'))
    writeFileSync(join(folder, 'token'), 'token', { mode: 0o600 })
    const env = {
      MANAGER_URL: upstream.url,
      MACHINE_TOKEN_FILE: join(folder, 'token'),
      HOST: '127.0.0.1',
      PORT: '0',
      HEARTBEAT_SECONDS: seconds,
    }
    const child = spawn(process.execPath, [program], { env, stdio: 'ignore' })
    onTestFinished(async () => {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true })
      await upstream.close()
    })
    // The client refuses intervals that are no interval: it would have ended before.
    await expect
      .poll(() => upstream.received.map(({ url }) => url))
      .toEqual(['/api/machine/register-backend'])
  },
)

test('it is a whole backend in less than forty lines', () => {
  expect(readFileSync(program, 'utf8').split('\n').length).toBeLessThanOrEqual(40)
})
