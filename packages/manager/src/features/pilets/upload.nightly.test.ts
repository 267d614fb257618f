// These tests send full-size uploads to a real process. They check the memory usage, and that the service frees
// the memory of uploads that clients never finish.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { type Message, statusOf } from '@manager/harness/http-messages.ts'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { boundary, formPart, piletPath, uploadPilet } from '@manager/harness/pilets.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { type RawSocket, openRaw } from '../../../test/kit/raw-socket.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

const mebibyte = 1_048_576
const maxUpload = 16 * mebibyte
const budget = 4 * maxUpload

let service: TestApp
let running: ServiceProcess
let admin: Person
let projects: SeededProject[]
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
  projects = [await seedProject(service.sql, 'one'), await seedProject(service.sql, 'two')]
  running = await startProcess(service.database.url)
})
afterAll(async () => {
  running.child.kill('SIGTERM')
  await running.exit
  await service.close()
})

const projectId = (index = 0): string => projects[index % 2]?.id as string
const upload = (name: string, bytes: Buffer) =>
  uploadPilet(running, admin, { projectId: projectId(), name, version: '1.0.0', bytes })
const bufferedBytes = async (): Promise<number> => {
  const text = await (await fetch(`${running.healthUrl}/metrics`)).text()
  return Number(/^svc_pilet_upload_bytes (\d+)$/m.exec(text)?.[1] ?? Number.NaN)
}
const residentMb = (field: 'VmRSS' | 'VmHWM'): number => {
  const text = readFileSync(`/proc/${running.child.pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1_024
}

/** Returns the peak growth of resident memory during the work. */
async function growthMb(work: () => Promise<unknown>): Promise<number> {
  const before = residentMb('VmRSS')
  let highest = before
  const timer = setInterval(() => (highest = Math.max(highest, residentMb('VmRSS'))), 5)
  await work()
  clearInterval(timer)
  return Math.max(highest, residentMb('VmRSS')) - before
}

/** Opens a client that announces the largest upload and sends part of it. */
async function begin(index: number, sent: number): Promise<RawSocket> {
  const raw = await openRaw(running.url)
  const lines = Object.entries({
    host: 'h',
    ...headersOf(admin),
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(maxUpload),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  const path = piletPath({ projectId: projectId(index), name: `slow-${index}`, version: '1.0.0' })
  raw.send(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  raw.socket.write(formPart({}, Buffer.alloc(sent, 'x')).subarray(0, -2))
  return raw
}

describe('an upload of the largest size', () => {
  test('costs the process less than 48 MB', async () => {
    for (const name of ['warm-a', 'warm-b'])
      expect((await upload(name, randomBytes(maxUpload))).status).toBe(200)
    const bytes = randomBytes(maxUpload)
    const grown = await growthMb(async () => {
      const answer = await upload('measured', bytes)
      expect([answer.status, answer.body.size]).toEqual([200, maxUpload])
    })
    process.stdout.write(`upload of 16 MiB: +${grown.toFixed(1)} MB resident\n`)
    expect(grown).toBeLessThan(48)
    expect(await bufferedBytes()).toBe(0)
  })

  test('does not make the process grow when it is repeated', async () => {
    // Five uploads kept in memory would exceed the limit.
    const times = loadSize(5, 8)
    const grown = await growthMb(async () => {
      for (let index = 0; index < times; index++)
        expect((await upload(`repeated-${index}`, randomBytes(maxUpload))).status).toBe(200)
    })
    process.stdout.write(`${times} uploads of 16 MiB: at most +${grown.toFixed(1)} MB resident\n`)
    expect(grown).toBeLessThan(64)
  })

  test('[pilets.upload-size] with one byte more is answered 413 and stores nothing', async () => {
    const { rows: before } = await service.sql.query('select count(*) from blobs')
    const answer = await upload('over', randomBytes(maxUpload + 1))
    expect([answer.status, answer.body.code]).toEqual([413, 'payload_too_large'])
    const { rows: after } = await service.sql.query('select count(*) from blobs')
    expect(after).toEqual(before)
    expect(await bufferedBytes()).toBe(0)
  })
})

describe('64 clients who announce the largest upload and do not finish', () => {
  test.each([
    ['send little', 100_000, 0],
    ['send much', 4 * mebibyte, 1],
  ])('who %s stay within the budget, and leave nothing', async (_how, sent, leastRefused) => {
    const clients: RawSocket[] = []
    const highest = { held: 0 }
    const watch = async (): Promise<void> => {
      highest.held = Math.max(highest.held, await bufferedBytes())
    }
    for (let index = 0; index < 64; index++) {
      clients.push(await begin(index, sent))
      if (index % 8 === 0) await watch()
    }
    // If no memory is left for a client, it receives 503 immediately. The service waits for the other clients to send
    // the rest of their bodies.
    await vi.waitFor(
      async () => {
        await watch()
        const refused = clients.filter((raw) => raw.responses().length > 0)
        expect(refused.length).toBeGreaterThanOrEqual(leastRefused)
        for (const raw of refused) expect(statusOf(raw.responses()[0] as Message)).toBe(503)
        expect(highest.held).toBeGreaterThan(leastRefused === 0 ? 60 * sent : budget / 2)
      },
      { timeout: 20_000, interval: 100 },
    )
    expect(highest.held).toBeLessThanOrEqual(budget)
    process.stdout.write(`64 slow clients held at most ${(highest.held / mebibyte).toFixed(1)} MiB\n`)
    for (const raw of clients) raw.socket.destroy()
    await vi.waitFor(async () => expect(await bufferedBytes()).toBe(0), { timeout: 20_000, interval: 100 })
    expect((await upload(`after-${sent}`, randomBytes(1_000))).status).toBe(200)
  })
})
