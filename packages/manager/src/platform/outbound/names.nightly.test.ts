// Tests the timeout for a name server that does not respond.
import { expect, test } from 'vitest'
import { startNameServer } from '../../../test/kit/name-server.ts'
import { createNameResolver } from './names.ts'

test('no longer than a lookup may take', async () => {
  const server = await startNameServer({ 'silent.example': { isSilent: true } })
  const names = createNameResolver({ servers: [server.address], timeoutMs: 200 })
  const started = performance.now()
  await expect(names.createLookup('owner')('silent.example')).rejects.toMatchObject({ code: 'EAI_AGAIN' })
  const took = performance.now() - started
  expect(took).toBeGreaterThan(190)
  expect(took).toBeLessThan(2_000)
  await server.close()
})
