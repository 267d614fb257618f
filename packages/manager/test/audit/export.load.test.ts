// Tests audit exports that the client aborts, and more concurrent exports than the service has connections
// for.
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { headersOf } from '@manager/harness/callers.ts'
import { countOpenSnapshots, useLargeTrail } from '../kit/audit-export-scene.ts'
import { askExport } from '../kit/audit-export.ts'

const scene = useLargeTrail(10, 5_000)

test('[audit-export.streamed] an export that breaks off does not look whole', async () => {
  for (const format of ['json', 'ndjson', 'csv']) {
    const response = await askExport(scene.service, scene.admin, { format })
    const terminated = async (): Promise<number | null> =>
      (
        await scene.sql.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
             and state = 'idle in transaction'`,
        )
      ).rowCount
    await expect.poll(terminated, { timeout: 10_000 }).toBe(1)
    await expect(response.arrayBuffer()).rejects.toThrow('terminated')
  }
  expect((await askExport(scene.service, scene.admin, { limit: '1' })).status).toBe(200)
}, 60_000)

test('as many exports run at once as there are connections for them; the next is told to come again', async () => {
  const { hostname, port } = new URL(scene.service.url)
  const lines = Object.entries(headersOf(scene.admin)).map(([name, value]) => `${name}: ${value}\r\n`)
  const held = [1, 2].map(() => {
    const socket = connect(Number(port), hostname)
    socket.write(`GET /api/audit/export?format=ndjson HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`)
    return socket
  })
  await expect.poll(() => countOpenSnapshots(scene.sql), { timeout: 10_000 }).toBe(2)
  const refused = await askExport(scene.service, scene.admin)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  // Other requests still work: exports use separate connections.
  expect((await fetch(`${scene.service.url}/health`)).status).toBe(200)
  for (const socket of held) socket.destroy()
  await expect.poll(() => countOpenSnapshots(scene.sql), { timeout: 10_000 }).toBe(0)
}, 60_000)
