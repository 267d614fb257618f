// Tests examples/backend.ts, which leaves most of the work to the client library, against a service process.
// The backend receives callbacks even after restarts and after its credentials are replaced.
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
    // The client rejects invalid intervals, so the program would have exited earlier.
    await expect
      .poll(() => upstream.received.map(({ url }) => url))
      .toEqual(['/api/machine/register-backend'])
  },
)

test('it is a whole backend in less than forty lines', () => {
  expect(readFileSync(program, 'utf8').split('\n').length).toBeLessThanOrEqual(40)
})
