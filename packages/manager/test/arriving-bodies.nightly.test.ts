// Tests slow request bodies in real time.
import { beforeAll, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { statusOf } from '@manager/harness/http-messages.ts'
import { startRequest } from './kit/partial-requests.ts'
import { boundary, formOf, formPart, piletPath } from '@manager/harness/pilets.ts'
import { useProject } from './kit/project.ts'

const { service, project, member } = useProject()
let tester: Person
beforeAll(async () => {
  tester = await member('tester', 'tester')
})

test('a body has 30 seconds, however steadily it comes; an upload of 16 MB gets through at 450 kB a second', async () => {
  const started = performance.now()
  const whole = formOf(formPart({}, Buffer.alloc(16_000_000, 'x')))
  const upload = await startRequest(service.url, {
    path: piletPath({ projectId: project.id, name: 'slow', version: '1.0.0' }),
    headers: { ...headersOf(tester), 'content-type': `multipart/form-data; boundary=${boundary}` },
    length: `content-length: ${whole.length}`,
  })
  const query = await startRequest(service.url, {
    path: '/query',
    headers: { ...headersOf(tester), 'content-type': 'application/json' },
    length: 'content-length: 100000',
  })
  let at = 0
  const timer = setInterval(() => {
    upload.socket.write(whole.subarray(at, at + 45_000))
    if (query.ended() === null) query.send(' ')
    at += 45_000
  }, 100)
  expect((await query.completeResponses(1)).map(statusOf)).toEqual([408])
  const endedMs = performance.now() - started
  expect(endedMs).toBeGreaterThan(29_900)
  expect(endedMs).toBeLessThan(33_000)
  expect((await upload.completeResponses(1)).map(statusOf)).toEqual([200])
  expect(performance.now() - started).toBeGreaterThan(34_000)
  clearInterval(timer)
  upload.socket.destroy()
}, 90_000)
