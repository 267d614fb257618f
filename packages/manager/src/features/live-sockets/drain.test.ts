// This test covers the shutdown of a process with open sockets.
import { expect, test } from 'vitest'
import { startProcess } from '@manager/harness/process.ts'
import { useProject } from '../../../test/kit/project.ts'
import { openRawSocket, closeCodeOf } from '../../../test/kit/raw-frames.ts'
import { openSocket, refusedHandshake, seatHeaders, socketPath } from '../../../test/kit/sockets.ts'

const { service, project, admin } = useProject()

test('SIGTERM closes sockets with 4000 after the drain delay, also those that do not answer, and the process exits with 0 [websocket.close-shutdown]', async () => {
  const { child, url, exit, lines } = await startProcess(service.database.url, {
    SVC_SHUTDOWN_DRAIN_DELAY_MS: '500',
  })
  const seat = { userId: admin.id, tenantId: project.tenantId, applicationId: project.applicationId }
  const sockets = Array.from({ length: 5 }, () => openSocket(url, seat))
  await Promise.all(sockets.map(({ hello }) => hello))
  const mute = await openRawSocket(url, seat)
  child.kill('SIGTERM')
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([4000, 4000, 4000, 4000, 4000])
  // While the process waits for the unresponsive client, it does not accept new sockets.
  const late = await refusedHandshake(url, socketPath(project.applicationId), seatHeaders(seat)).catch(
    () => null,
  )
  expect(late === null || (late !== 'opened' && late.status === 503)).toBe(true)
  expect(await exit).toBe(0)
  await mute.waitUntil(() => mute.ended() !== null)
  expect(closeCodeOf(mute)).toBe(4000)
  expect(lines.at(-1)).toContain('"stopped"')
})
